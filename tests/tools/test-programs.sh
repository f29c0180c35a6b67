#!/bin/bash
# Version, man page and bash completion of a program.
#   test-programs.sh PROGRAM VERSION COMPLETION [MAN-PAGE]
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
set -uo pipefail
program=$1 version=$2 completion=$3 page=${4:-}
name=${program##*/}
failed=0

# expect WHAT EXPECTED FOUND
expect() {
  if [ "$2" != "$3" ]; then
    printf '%s: %s\nexpected: %s\nfound:    %s\n' "$name" "$1" "$2" "$3"
    failed=1
  fi
}

# complete_words WORDS...: prints the completions that Tab offers after the last
# word. Words are split as in bash.
complete_words() {
  COMP_WORDS=("$name" "$@") COMP_CWORD=$# COMPREPLY=()
  "_${name//-/_}" "$program" "${!#}" "${COMP_WORDS[$# - 1]}"
  printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
}

options=$("$program" --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' | sort)
expect '--version' "$name $version" "$("$program" --version)"

# shellcheck source=/dev/null
source "$completion"
expect 'options' "$(paste -sd' ' <<<"$options")" "$(complete_words --)"
case $name in
  ndconv-file)
    expect 'commands' 'check compare convert info' "$(complete_words '')"
    expect 'files' '' "$(complete_words info '')"
    types=$(complete_words info FILE --type = '')
    expect 'a type' 'int16 int32 int8' "$(complete_words info FILE --type = i)"
    for type in $types; do
      "$program" --help | grep -q -- "--type=.*$type" || expect type '' "$type"
    done
    ;;
  ndconv-filter)
    # expect_row WHAT PATTERN ARGUMENTS: the last line of the command time.
    expect_row() {
      local row what=$1 pattern=$2
      row=$("$program" time "${@:3}" 2>&1 | tail -1)
      [[ $row =~ $pattern ]] || expect "$what" "$pattern" "$row"
    }
    number='[0-9.e+-]+ +'
    expect_row 'a row' "^cpu +[a-z]+ +($number){3}0 *\$" box,size=3 \
      --size 12:12:12 --backend cpu
    expect_row 'a row of a stream' "^cpu +[a-z]+ +($number){3}0 +.* ms +no *\$" \
      box,size=3 --size 12:12:12 --backend cpu --rate 1e9/1
    expect_row 'a denoiser' "^cpu +[a-z]+ +($number){3}1 +.* ms +yes *\$" \
      nddenoise,latency=1 --size 12:12 --type int16 --backend cpu --rate 0.1
    expect_row 'no size' 'size of a volume is missing' box
    expect_row 'a bad size' 'one to three numbers' box --size 1:2:3:4
    expect_row 'a bad rate' 'volumes per second' box --size 8 --rate 0
    expect_row 'a bad back end' 'does not work' box --size 8 --backend nothing
    expect_row 'a refusal' 'speed' nddenoise,speed=3 --size 8:8
    expect 'commands' 'describe list plot response save time' \
      "$(complete_words '')"
    expect 'designs' "$("$program" list | sort | paste -sd' ')" \
      "$(complete_words describe '')"
    expect 'a design' gabor "$(complete_words plot gab)"
    expect 'files' '' "$(complete_words plot gabor '')"
    expect 'axes' 'xy xyt xyz xyzt' "$(complete_words --axes =)"
    expect 'axes' 'xyz xyzt' "$(complete_words describe gabor -a xyz)"
    for design in $("$program" list); do
      error=$("$program" describe "$design,no-such=1" 2>&1 >/dev/null)
      [[ $error != *'no filter design'* ]] || expect design '' "$error"
    done
    ;;
  ndconv-web)
    expect 'files' '' "$(complete_words '')"
    expect 'numbers' '' "$(complete_words --port '')"
    expect 'addresses' '0.0.0.0 ::' "$(complete_words --listen '')"
    expect 'folders' /usr "$(complete_words --record /us)"
    ;;
  ndconv-run)
    expect 'files' '' "$(complete_words '')"
    # Every value that is completed is one that the help names.
    for option in border time-border backend method response accuracy; do
      values=$("$program" --help | tr -s ' \n' ' ' |
        grep -oE -- "--$option [A-Z]+ [^-]*: [a-z, ]*" | sed 's/.*: //' |
        tr -d , | tr ' ' '\n' | sed '/^$/d' | sort | paste -sd' ')
      expect "$option" "$values" "$(complete_words "--$option" '')"
    done
    ;;
esac

if [ -n "$page" ]; then
  grep -qF "${name//-/\\-} \\- " "$page" || expect 'NAME' "$name" ''
  for option in $options; do
    grep -qF -- "${option//-/\\-}" "$page" || expect 'man page' "$option" ''
  done
  grep -qF "ndconv $version" "$page" || expect 'man page' "$version" ''
  if command -v groff >/dev/null; then
    expect 'groff' '' "$(groff -man -Tutf8 -ww -z "$page" 2>&1)"
  fi
fi
exit $failed
