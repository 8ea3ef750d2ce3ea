#!/usr/bin/env python3
"""Packs a built binary as a wheel, as npm packages and as an archive, and the capability servers as a wheel and an archive.

    deploy/packages.py --binary target/dist/powerstrip --out target/packages
    deploy/packages.py --servers target/release --out target/packages

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
SERVERS_SUMMARY = "Capability servers for Powerstrip and other MCP clients: documents, pictures, compliance, jobs, texts, videos, posts"
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


def server_programs():
    """The programs of the capability servers, as the catalog lists them."""
    catalog = (ROOT / "crates/recipes/src/catalog/servers.yaml").read_text()
    rows = re.split(r"(?m)^- name: ", catalog)
    return [row.split("\n", 1)[0] for row in rows if "\n  bundled: true\n" in row]


def write_wheel(package, summary, programs, version, out):
    """A wheel whose scripts are these (name, binary) pairs."""
    info = f"{package}-{version}.dist-info"
    wheel_arch = programs[0][1].wheel_arch
    tag = f"py3-none-manylinux_2_{max(binary.glibc_minor for _, binary in programs)}_{wheel_arch}"
    metadata = (
        f"Metadata-Version: 2.4\nName: {package}\nVersion: {version}\nSummary: {summary}\n"
        "License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.8\n"
        "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text()
    )
    files = [
        *((f"{package}-{version}.data/scripts/{name}", binary.content, 0o755) for name, binary in programs),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: powerstrip\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644),
    ]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    path = out / f"{package}-{version}-{tag}.whl"
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


def write_programs(name, programs, out):
    return write_archive(out / f"{name}.tar.gz", [(file, binary.content, 0o755) for file, binary in programs])


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
    parser.add_argument("--binary", type=pathlib.Path, help="the gateway")
    parser.add_argument("--servers", type=pathlib.Path, help="the folder of the capability servers' programs")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    if not arguments.binary and not arguments.servers:
        parser.error("name the gateway by --binary or the servers' folder by --servers")
    out, version, written = arguments.out, package_version(), []
    out.mkdir(parents=True, exist_ok=True)
    if arguments.binary:
        binary = Binary(arguments.binary)
        programs = [("powerstrip", binary)]
        written += [
            write_programs(f"powerstrip-linux-{binary.npm_arch}", programs, out),
            write_wheel("powerstrip", SUMMARY, programs, version, out),
            *write_npm(binary, version, out),
        ]
    if arguments.servers:
        programs = [(name, Binary(arguments.servers / name)) for name in server_programs()]
        written += [
            write_programs(f"powerstrip-servers-linux-{programs[0][1].npm_arch}", programs, out),
            write_wheel("powerstrip_servers", SERVERS_SUMMARY, programs, version, out),
        ]
    # The other package may have been written before.
    listed = out / "SHA256SUMS"
    lines = listed.read_text().splitlines() if listed.exists() else []
    digests = {line.split("  ", 1)[1]: line.split("  ", 1)[0] for line in lines}
    digests.update((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in written)
    listed.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())))
    for path in written:
        print(f"{path.stat().st_size:>12,} {path}")


if __name__ == "__main__":
    main()
