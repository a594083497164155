"""Builds the program without Node.js and network; it contains the committed page. Run by `page_long.py`."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NODE = {"node", "nodejs", "npm", "npx", "corepack", "yarn", "pnpm"}


def programs_but_node(folder):
    """Fills a folder with links to every program on the path, except those of Node.js."""
    for place in os.environ["PATH"].split(":"):
        for program in sorted(Path(place).iterdir()) if Path(place).is_dir() else []:
            link = Path(folder) / program.name
            if program.name not in NODE and not link.is_symlink():
                link.symlink_to(program.resolve() if program.name not in ("cargo", "rustc") else program)


def builds_without_node(_program, _browser):
    """C27: `cargo build` from nothing, in a namespace without a network and without Node.js."""
    assert shutil.which("unshare"), "unshare is not installed"
    target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target"
    with tempfile.TemporaryDirectory() as programs, tempfile.TemporaryDirectory(dir=target, prefix="without-node-") as built:
        programs_but_node(programs)
        alone = "for one in node nodejs npm npx; do ! command -v $one || exit 9; done; ! ip route get 192.0.2.1 2>/dev/null || exit 8; exec cargo build --quiet --offline --locked --package inband"
        started = time.monotonic()
        run = subprocess.run(
            ["unshare", "--map-root-user", "--net", "sh", "-c", alone],
            cwd=ROOT,
            env={**os.environ, "PATH": programs, "CARGO_TARGET_DIR": built},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=7_200,
        )
        assert run.returncode == 0, (run.returncode, run.stdout[-1_000:])
        took = time.monotonic() - started
        program = Path(built) / "debug" / "inband"
        subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
        assert (ROOT / "crates/page/dist/main.js").read_bytes() in program.read_bytes(), "the page is not in the program"
    compared = subprocess.run(["cargo", "xtask", "page", "--check"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1_800)
    assert compared.returncode == 0, compared.stdout[-1_000:]
    is_compared = "skipped" not in compared.stdout
    return round(took), "s to build without Node.js and network; " + ("the page's sources make the same bytes" if is_compared else "the page was not compared: " + compared.stdout.strip())
