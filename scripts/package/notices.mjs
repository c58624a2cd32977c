// The notices of third parties that a package asks for: which works are in it, with their versions, licences and bytes,
// and the texts of these licences. What is bundled is read from the bundler's metafiles.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { addonWorks, allowed, compiled, tables, unwritten } from "./works.mjs";

const standard = (licence) => readFileSync(join(import.meta.dirname, "licences", `${licence}.txt`), "utf8");
/** A long text stands alone, so that works which share it do not repeat it. */
function textsOf({ licence, copyright, source }) {
  const text = standard(licence);
  const head = [...(source === undefined ? [] : [`Source: ${source}`]), copyright]
    .filter(Boolean)
    .join("\n\n");
  if (head === "") return [text];
  return text.length > 4000 ? [head, text] : [`${head}\n\n${text}`];
}

/** The folder of the package that a file is of; undefined for a file of ours. */
export function packageFolder(file) {
  const path = resolve(file).replaceAll("\\", "/");
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

/** Packages with the bytes that the outputs hold of them and the files these are of. */
function bundled(metafiles) {
  const packages = new Map();
  for (const { outputs } of metafiles)
    for (const output of Object.values(outputs))
      for (const [file, { bytesInOutput }] of Object.entries(output.inputs)) {
        const folder = packageFolder(file);
        if (folder === undefined) continue;
        const found = packages.get(folder) ?? { bytes: 0, files: new Set() };
        found.bytes += bytesInOutput;
        found.files.add(file);
        packages.set(folder, found);
      }
  return packages;
}

const sizeOf = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : statSync(path).size;

const isLicence = (name) => /^(licen[cs]e|copying|notice|third.?party.?notices)(\.(md|txt))?$/i.test(name);
export const licenceFiles = (folder) =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter(isLicence)
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim());

/** Comments that name an author or a source which the licence does not: parts that were taken from elsewhere. */
export function foreignComments(source, licence) {
  const plain = (text) => text.toLowerCase().replace(/all rights reserved|[^\p{L}\d]+/gu, "");
  const known = plain(licence);
  const comments = source.match(/\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm) ?? [];
  return comments
    .filter((comment) => comment.length < 4000)
    .map((comment) =>
      comment.replace(/^[ \t]*(\/\*+!?|\*+\/|\*|\/\/)[ \t]?|\*\/[ \t]*$|^-{4,}$/gm, "").trim(),
    )
    .filter((comment) =>
      comment
        .split("\n")
        .some(
          (line) =>
            /\bcopyright\s*(\(c\)|©|\d)|\b(adapted|ported|copied) from [^\n]*(https?:|\()/i.test(line) &&
            !known.includes(plain(line)),
        ),
    );
}

/** Packages that a bundler has put into a published file: it leaves a comment with their path. */
function inlined(source) {
  const found = new Map();
  for (const [line] of source.matchAll(/^\/\/(#region)? .*node_modules\/.*$/gm)) {
    const name = /.*node_modules\/((?:@[^/\s]+\/)?[^/\s]+)/.exec(line)[1];
    const version = /\.pnpm\/(?:@[^/]+\+)?[^@/]+@([^_/(]+)/.exec(line)?.[1];
    found.set(name, version ?? "");
  }
  return found;
}

/** A work and what is in it; what is wrong with it goes to `problems`, by name. */
function workOf({ name, version, licence, texts, bytes, within }, problems) {
  const called = `${name} ${version}`.trim();
  if (!allowed.has(licence))
    problems.push(
      `${called} is under ${licence ?? "no licence"}: see whether a package may hold it (allowed in scripts/package/works.mjs).`,
    );
  else if (texts.length === 0)
    problems.push(
      `${called} has no file with its licence: add it to unwritten in scripts/package/works.mjs.`,
    );
  return { name, version, licence, texts, bytes, within };
}

const written = (name, folder) => {
  const files = licenceFiles(folder);
  return files.length === 0 && unwritten[name] !== undefined ? textsOf(unwritten[name]) : files;
};

/** What is inside a package: what a bundler names, dependencies that nothing imports, what is compiled. */
function insideOf({ manifest, sources, modules, imported, holdsCompiled }, problems) {
  const { name, version } = manifest;
  const names = new Map(sources.flatMap((source) => [...inlined(source)]));
  for (const needed of Object.keys(manifest.dependencies ?? {}))
    if (!imported.has(needed) && !needed.startsWith("@types/") && !names.has(needed)) names.set(needed, "");
  const works = [...names]
    .filter(([inner]) => inner !== name)
    .map(([inner, version]) => {
      const folder = join(modules, inner);
      const file = join(folder, "package.json");
      const installed = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
      const licence = unwritten[inner]?.licence ?? installed.license;
      return {
        name: inner,
        version: version || (installed.version ?? ""),
        licence,
        texts: written(inner, folder),
      };
    });
  if (holdsCompiled && compiled[name]?.version !== version)
    problems.push(
      `${name} ${version} has compiled parts that are not listed: list what is in them in compiled of scripts/package/works.mjs.`,
    );
  for (const work of compiled[name]?.works ?? []) works.push({ ...work, version: "", texts: textsOf(work) });
  return works.map((work) => workOf({ ...work, within: name }, problems));
}

/** A work that is in several others is one, with the names of these. */
function together(works) {
  const found = new Map();
  for (const work of works) {
    const key = `${work.name} ${work.version} ${work.within === undefined}`;
    const before = found.get(key);
    found.set(key, before === undefined ? work : { ...before, within: `${before.within}, ${work.within}` });
  }
  return [...found.values()];
}

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Packages that are bundled or carried, by folder: bytes, files of bundles, paths that are carried. */
function packagesOf({ metafiles, carried, modules }) {
  const packages = bundled(metafiles);
  for (const [name, files] of Object.entries(carried)) {
    const folder = packageFolder(join(modules, name));
    const paths = files.map((file) => join(folder, file));
    const { bytes, files: own } = packages.get(folder) ?? { bytes: 0, files: new Set() };
    packages.set(folder, {
      bytes: paths.reduce((sum, path) => sum + sizeOf(path), bytes),
      files: own,
      carried: paths,
    });
  }
  return packages;
}

/** A package's own work, then those inside it. */
function worksOf([folder, { bytes, files, carried = [] }], { modules, imported }, problems) {
  const manifest = manifestOf(folder);
  const { name, version, license: licence } = manifest;
  const sources = [...files].map((file) => readFileSync(file, "utf8"));
  const holdsCompiled =
    carried.some((path) => holds(path, /\.(wasm|zip)$/)) ||
    sources.some((source) => /["'`]AGFzbQ/.test(source));
  const texts = written(name, folder);
  const comments = new Set(sources.flatMap((source) => foreignComments(source, texts.join("\n"))));
  const work = workOf({ name, version, licence, texts, bytes }, problems);
  return [
    { ...work, texts: [...texts, ...comments] },
    ...insideOf({ manifest, sources, modules, imported, holdsCompiled }, problems),
  ];
}

/**
 * The works in a package. `metafiles`: of its bundles; `carried`: files and folders that are copied, by package;
 * `modules`: the folder node_modules. Throws with a line for each work without a notice.
 */
export function collectWorks({ metafiles, carried = {}, modules }) {
  const packages = packagesOf({ metafiles, carried, modules });
  const read = metafiles.flatMap(({ inputs }) => Object.keys(inputs)).map(packageFolder);
  const folders = new Set([...packages.keys(), ...read.filter((folder) => folder !== undefined)]);
  const imported = new Set([...folders].map((folder) => manifestOf(folder).name));
  const problems = [];
  const works = [...packages].flatMap((found) => worksOf(found, { modules, imported }, problems));
  if (problems.length > 0) throw new Error(`The package would lack notices:\n${problems.join("\n")}`);
  return together(works).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const holds = (path, pattern) =>
  statSync(path).isDirectory()
    ? readdirSync(path).some((name) => holds(join(path, name), pattern))
    : pattern.test(basename(path));

/** Help texts of other trainers, which no package of npm has. */
export const tableWorks = (home) =>
  tables.map((table) => ({
    ...table,
    version: "",
    texts: textsOf(table),
    bytes: sizeOf(join(home, table.file)),
  }));

/** What the addons for all systems are made of. */
export const nativeWorks = () => addonWorks.map((work) => ({ ...work, version: "", texts: textsOf(work) }));

const sizes = (bytes) => (bytes === undefined ? "" : bytes.toLocaleString("en"));

/** The table and the texts; a text that several works have is written once. */
export function noticesText(title, works) {
  const rows = works.map(({ name, version, licence, bytes, within }) => [
    within === undefined ? name : `${name} (in ${within})`,
    version,
    licence,
    sizes(bytes),
  ]);
  const all = [["work", "version", "licence", "bytes"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => (column === 3 ? cell.padStart(widths[3]) : cell.padEnd(widths[column])))
      .join("  ")
      .trimEnd();
  const owners = new Map();
  for (const work of works)
    for (const text of work.texts) owners.set(text, (owners.get(text) ?? new Set()).add(work.name));
  const texts = [...owners].map(
    ([text, names]) => `${"-".repeat(80)}\n${[...names].join(", ")}\n\n${text.trim()}\n`,
  );
  return `${title}\n\n${all.map(line).join("\n")}\n\n${texts.join("\n")}`;
}
