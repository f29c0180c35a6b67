#!/usr/bin/env python3
# Writes the man page of a program from what its --help prints.
#
#   man-page.py OUTPUT PACKAGE NAME COMMAND...
#
# PACKAGE is the name and version for the footer. The help begins with the usage,
# which ends with " - " and what the program does. After a line such as
# "Options:", indented lines are either terms with their explanations, at least
# two spaces apart, or examples. All other lines are the description.
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import os
import re
import subprocess
import sys

ENTRY = re.compile(r' +(\S.*?)(?:  +(\S.*))?$')


def read_help(command):
    environment = dict(os.environ, LC_ALL='C.UTF-8', LANGUAGE='',
                       COLUMNS='100', ASAN_OPTIONS='detect_leaks=0')
    process = subprocess.run([*command, '--help'], check=True, timeout=60,
                             stdout=subprocess.PIPE, env=environment)
    return process.stdout.decode().replace('…', '...')


def split_sections(text):
    """The lines of each section by its title in upper case, and those of none
    as DESCRIPTION."""
    sections, title = {'DESCRIPTION': []}, 'DESCRIPTION'
    for line in text.split('\n'):
        heading = re.match(r'([A-Za-z][A-Za-z ]*):\s*(.*)$', line)
        if heading and (not heading[2] or heading[1].lower() == 'usage'):
            title = heading[1].upper()
            title = 'OPTIONS' if title.endswith('OPTIONS') else title
            sections.setdefault(title, [])
            line = '  ' + heading[2]
        elif line and not line.startswith(' '):
            title = 'DESCRIPTION'
        sections[title].append(line)
    return sections


def escape(text):
    text = text.strip().replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text.startswith(('.', "'")) else text


def format_entries(lines):
    """Terms with their explanations, of which later lines are indented more."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    page = []
    for line in lines:
        term, text = ENTRY.match(line).groups()
        if len(line) - len(line.lstrip()) == indent:
            page += ['.TP', f'.B {escape(term)}']
        else:
            text = line
        if text:
            page.append(escape(text))
    return page


def format_section(lines):
    lines = [line for line in lines if line.strip()]
    if any(ENTRY.match(line) and ENTRY.match(line)[2] for line in lines):
        return format_entries(lines)
    return ['.nf', *map(escape, lines), '.fi']


def format_paragraphs(lines):
    text = '\n'.join(lines).strip()
    page = []
    for paragraph in re.split(r'\n\s*\n', text) if text else []:
        page += ['.PP', *map(escape, paragraph.split('\n'))]
    return page


def format_page(name, package, text):
    sections = split_sections(text)
    usage = ' '.join(' '.join(sections.pop('USAGE')).split())
    usage, _, purpose = usage.partition(' - ')
    description = format_paragraphs(sections.pop('DESCRIPTION'))
    page = [f'.TH {name.upper()} 1 "" "{package}"', '.SH NAME',
            f'{escape(name)} \\- {escape(purpose)}', '.SH SYNOPSIS',
            f'.B {escape(usage)}']
    if description:
        page += ['.SH DESCRIPTION', *description]
    for title, lines in sections.items():
        page += [f'.SH "{title}"', *format_section(lines)]
    return '\n'.join(page) + '\n'


def main():
    output, package, name, *command = sys.argv[1:]
    page = format_page(name, package, read_help(command))
    with open(output, 'w', encoding='utf-8') as file:
        file.write(page)


main()
