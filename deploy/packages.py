#!/usr/bin/env python3
"""Packs a built binary as a wheel, as npm packages and as an archive.

    deploy/packages.py --binary target/dist/powerstrip --out target/packages

A wheel and an npm package that carry one binary are archives of a few files, so they are written here
and not by a build tool that would compile everything a second time.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import pathlib
import re
import struct
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUMMARY = "One front door between AI agents and their tools"
# Machine numbers of ELF files, with the names that npm and wheels have for them.
MACHINES = {62: ("x64", "x86_64"), 183: ("arm64", "aarch64")}
NPM_PLATFORMS = ["linux-x64", "linux-arm64"]
# Archives of equal content are equal: the earliest time that a zip file can hold.
EPOCH = (1980, 1, 1, 0, 0, 0)


class Binary:
    """An ELF file, and what the packages must say of it."""

    def __init__(self, path):
        self.content = path.read_bytes()
        if self.content[:5] != b"\x7fELF\x02":
            raise SystemExit(f"packages: {path} is not a 64-bit Linux program")
        (machine,) = struct.unpack_from("<H", self.content, 18)
        if machine not in MACHINES:
            raise SystemExit(f"packages: {path} is built for machine {machine}, for which there is no package")
        self.npm_arch, self.wheel_arch = MACHINES[machine]
        # The newest glibc symbol decides on which systems the binary starts.
        versions = re.findall(rb"GLIBC_2\.(\d+)", self.content)
        self.glibc_minor = max(map(int, versions), default=17)


def package_version():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return manifest["workspace"]["package"]["version"]


def write_wheel(binary, version, out):
    info = f"powerstrip-{version}.dist-info"
    tag = f"py3-none-manylinux_2_{binary.glibc_minor}_{binary.wheel_arch}"
    metadata = (
        f"Metadata-Version: 2.4\nName: powerstrip\nVersion: {version}\nSummary: {SUMMARY}\n"
        "License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.8\n"
        "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text()
    )
    files = [
        (f"powerstrip-{version}.data/scripts/powerstrip", binary.content, 0o755),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: powerstrip\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
    ]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    path = out / f"powerstrip-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return path


def write_archive(path, files):
    """A .tar.gz of (name, content, mode)."""
    tar_bytes = io.BytesIO()
    with tarfile.open(fileobj=tar_bytes, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(tar_bytes.getvalue(), compresslevel=6, mtime=0))
    return path


def write_npm(binary, version, out):
    """The package that people install, and the one with the binary for this platform."""
    common = {"version": version, "description": SUMMARY, "license": "Apache-2.0"}
    platform = f"linux-{binary.npm_arch}"
    main = {
        "name": "powerstrip",
        **common,
        "bin": {"powerstrip": "bin/powerstrip.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"@powerstrip/{name}": version for name in NPM_PLATFORMS},
    }
    carrier = {
        "name": f"@powerstrip/{platform}",
        **common,
        "os": ["linux"],
        "cpu": [binary.npm_arch],
        "libc": ["glibc"],
    }
    license_file = ("package/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644)

    def manifest(package):
        return ("package/package.json", json.dumps(package, indent=2).encode(), 0o644)

    launcher = (ROOT / "deploy/npm/launcher.js").read_bytes()
    readme = (ROOT / "README.md").read_bytes()
    return [
        write_archive(
            out / f"powerstrip-{version}.tgz",
            [manifest(main), ("package/bin/powerstrip.js", launcher, 0o755), ("package/README.md", readme, 0o644), license_file],
        ),
        write_archive(
            out / f"powerstrip-{platform}-{version}.tgz",
            [manifest(carrier), ("package/bin/powerstrip", binary.content, 0o755), license_file],
        ),
    ]


def main():
    parser = argparse.ArgumentParser(description="Packs a built binary as a wheel, as npm packages and as an archive.")
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    binary, version = Binary(arguments.binary), package_version()
    archive = write_archive(
        arguments.out / f"powerstrip-linux-{binary.npm_arch}.tar.gz", [("powerstrip", binary.content, 0o755)]
    )
    written = [archive, write_wheel(binary, version, arguments.out), *write_npm(binary, version, arguments.out)]
    digests = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in written)
    (arguments.out / "SHA256SUMS").write_text(digests)
    for path in written:
        print(f"{path.stat().st_size:>12,} {path}")


if __name__ == "__main__":
    main()
