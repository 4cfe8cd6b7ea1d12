"""Write py/NOTICE: the crates that the wheel has compiled in, and their licences.

Run by ship.sh; needs cargo and the sources of the crates, which it has fetched.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEAD = """\
fsgreen-engine is under the MIT licence. Compiled in, beside Rust's standard library
(MIT OR Apache-2.0, the Rust project contributors), are these crates:
"""
# Of the licences that a crate offers, the one whose text stands here: the first that it has.
TEXTS = ("LICENSE-MIT*", "LICENSE*", "license-mit*", "COPYING*")


def metadata() -> dict[str, Any]:
    """What cargo knows of the crates that a build for Linux takes."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    targets = [f"--filter-platform={name}-unknown-linux-gnu" for name in ("x86_64", "aarch64")]
    done = subprocess.run([*command, *targets], cwd=HERE, check=True, capture_output=True)
    return json.loads(done.stdout)


def compiled_in(known: dict[str, Any]) -> list[dict[str, Any]]:
    """The crates of others that end up in the wheel: what neither tests nor macros alone need."""
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    todo, seen = list(known["workspace_members"]), set()
    while todo:
        name = todo.pop()
        kinds = [kind for target in packages[name]["targets"] for kind in target["kind"]]
        if name in seen or "proc-macro" in kinds:
            continue
        seen.add(name)
        needs = nodes[name]["deps"]
        todo += [n["pkg"] for n in needs if any(k["kind"] is None for k in n["dep_kinds"])]
    found = [packages[name] for name in seen - set(known["workspace_members"])]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def licence_text(package: dict[str, Any]) -> str:
    """The text of a crate's licence, or of all that hold at once, as for ring."""
    folder = Path(package["manifest_path"]).parent
    files = next(filter(None, (sorted(folder.glob(pattern)) for pattern in TEXTS)), [])
    if not files and "MIT" in package["license"].split(" OR "):
        # yasna says so in its sources, and has no file.
        terms = (HERE.parent / "LICENSE").read_text().partition("Permission is")
        return "\n\n".join(
            ["Copyright " + ", ".join(package["authors"]), "".join(terms[1:]).strip()]
        )
    used = files if " AND " in package["license"] else files[:1]
    texts = [file.read_text().strip().splitlines() for file in used]
    return "\n\n".join("\n".join(line.rstrip() for line in lines) for lines in texts)


def main() -> None:
    """Write the file."""
    crates = compiled_in(metadata())
    named = {f"{crate['name']} {crate['version']}": crate for crate in crates}
    users: dict[str, list[str]] = {}
    for name, crate in named.items():
        users.setdefault(licence_text(crate), []).append(name)
    lines = [f"  {name}: {crate['license']}" for name, crate in named.items()]
    texts = [f"{'-' * 72}\n{', '.join(names)}\n\n{text}" for text, names in users.items()]
    (HERE / "py" / "NOTICE").write_text("\n".join([HEAD, *lines, "", "\n\n".join(texts), ""]))


if __name__ == "__main__":
    main()
