# The wheel of ndconv-cuda13 with a module that is no module: its files and
# metadata, pip installs it, and the package finds the module beside the library.
#   test-wheel.py SOURCE LIBRARY
#
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the ndconv developers
import base64
import hashlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE, LIBRARY = (pathlib.Path(path) for path in sys.argv[1:3])
BYTES = b"no module" * 100


def load_backend():
    path = SOURCE / "python" / "cuda13" / "build.py"
    spec = importlib.util.spec_from_file_location("build_cuda13", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.backend = load_backend()
        self.options = None

        def build_module(_folder, options):
            self.options = options
            return BYTES
        self.backend.build_module = build_module
        name = self.backend.build_wheel(
            self.folder, {"setup-args": "-Dcuda-architectures=90"})
        self.wheel = self.folder / name

    def test_files(self):
        self.assertEqual(self.options, ["-Dcuda-architectures=90"])
        with zipfile.ZipFile(self.wheel) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
            # Everybody may read them, whoever installs it.
            self.assertEqual([entry.filename for entry in archive.infolist()
                              if entry.external_attr >> 16 & 0o444 != 0o444],
                             [])
        self.assertEqual(files["ndconv_cuda13/ndconv-cuda.so"], BYTES)
        info = next(name for name in files if name.endswith("/METADATA"))
        text = files[info].decode()
        version = self.backend.find_version()
        self.assertIn(f"Requires-Dist: ndconv=={version}\n", text)
        self.assertIn("Requires-Dist: nvidia-cufft>=12,<13\n", text)
        record = files[info.replace("METADATA", "RECORD")].decode()
        for line in record.splitlines():
            name, digest, size = line.split(",")
            if name.endswith("RECORD"):
                continue
            found = base64.urlsafe_b64encode(
                hashlib.sha256(files[name]).digest()).decode().rstrip("=")
            self.assertEqual((digest, int(size)),
                             ("sha256=" + found, len(files[name])))
        self.assertEqual(len(record.splitlines()), len(files))

    def test_is_found(self):
        site = self.folder / "site"
        pip = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
             "--no-index", "--disable-pip-version-check", "--target", site,
             self.wheel],
            capture_output=True, text=True, check=False)
        if pip.returncode and "No module named pip" in pip.stderr:
            self.skipTest("without pip")
        self.assertEqual(pip.returncode, 0, pip.stderr)
        shutil.copytree(SOURCE / "python" / "ndconv", site / "ndconv")
        libraries = site / ".ndconv.mesonpy.libs"
        libraries.mkdir()
        shutil.copy(LIBRARY, libraries / "libndconv.so.0")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
            [str(site), os.environ.get("PYTHONPATH", "")])}
        environment.pop("NDCONV_LIBRARY", None)
        environment.pop("NDCONV_CUDA_MODULE", None)
        found = subprocess.run(
            [sys.executable, "-c", "import ndconv\n"
             "print(ndconv.backends())\n"
             "try:\n    ndconv.devices('cuda')\n"
             "except ndconv.BackendError as error:\n    print(error)"],
            env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 0, found.stderr)
        first, second = found.stdout.splitlines()
        self.assertEqual(first, "['cpu']")
        self.assertIn("ndconv_cuda13/ndconv-cuda.so\" cannot be opened",
                      second)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
