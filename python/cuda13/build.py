"""Builds the wheel of ndconv-cuda13: the CUDA module of this checkout, which the
package ndconv of the same checkout opens.

    pip wheel ./python/cuda13
    pip wheel ./python/cuda13 -C setup-args=-Dcuda-architectures=90

A module for some cards fits the same package ndconv as one for all.

SPDX-License-Identifier: LGPL-2.1-or-later
Copyright (C) 2026 the ndconv developers
"""
import base64
import hashlib
import json
import pathlib
import subprocess
import sysconfig
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NAME = "ndconv_cuda13"
_INIT = '''"""The CUDA module of the package ndconv, which finds it here."""
'''
_METADATA = """\
Metadata-Version: 2.1
Name: ndconv-cuda13
Version: {version}
Summary: The CUDA module of ndconv, for CUDA 13
License: LGPL-2.1-or-later
Requires-Python: >=3.9
Requires-Dist: ndconv=={version}
Requires-Dist: nvidia-cufft>=12,<13
"""
_WHEEL = """\
Wheel-Version: 1.0
Generator: ndconv
Root-Is-Purelib: false
Tag: {tag}
"""


def _run(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def find_version():
    """The version of the project, without a build folder."""
    return json.loads(_run("meson", "introspect", "--projectinfo",
                           SOURCE / "meson.build"))["version"]


def build_module(folder, options):
    """The bytes of the module, built in @folder."""
    _run("meson", "setup", folder, SOURCE, "--buildtype=release",
         "-Dwheel=true", "-Dpython=disabled", "-Dcuda=enabled", *options)
    _run("meson", "compile", "-C", folder, "ndconv-cuda")
    module = pathlib.Path(folder, "cuda", "ndconv-cuda.so")
    _run("strip", "--strip-unneeded", module)
    return module.read_bytes()


def write_wheel(folder, version, module):
    """Writes the wheel with the bytes of @module; its name."""
    # For any Python on this system: the module knows none.
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{system}"
    info = f"{NAME}-{version}.dist-info"
    files = {
        f"{NAME}/__init__.py": _INIT.encode(),
        f"{NAME}/ndconv-cuda.so": module,
        f"{info}/licenses/COPYING": (SOURCE / "COPYING").read_bytes(),
        f"{info}/METADATA": _METADATA.format(version=version).encode(),
        f"{info}/WHEEL": _WHEEL.format(tag=tag).encode()}
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        record.append(f"{name},sha256={digest.decode().rstrip('=')},"
                      f"{len(data)}\n")
    record.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = "".join(record).encode()
    wheel = f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, wheel), "w",
                         zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)    # the same wheel at any time
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so")
                                   else 0o644) << 16
            archive.writestr(entry, data)
    return wheel


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    """The function of PEP 517."""
    del metadata_directory
    options = (config_settings or {}).get("setup-args", [])
    if isinstance(options, str):
        options = [options]
    with tempfile.TemporaryDirectory() as folder:
        module = build_module(folder, options)
    return write_wheel(wheel_directory, find_version(), module)
