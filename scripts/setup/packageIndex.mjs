// Which index of Python packages this person's uv or pip is set to, and what it has: read as they read it, for machines
// that have neither. https://packaging.python.org/en/latest/specifications/simple-repository-api/
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fetchText, withoutPassword } from "./download.mjs";
import { SetupError } from "./process.mjs";

/** Values of `key` in an .ini or .toml file, as [section, value]. */
function* valuesOf(text, keys) {
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\s*\[+\s*([^\]]+?)\s*\]+/.exec(line);
    if (heading !== null) section = heading[1];
    const pair = /^\s*([\w-]+)\s*[=:]\s*(.*?)\s*$/.exec(line);
    if (heading === null && pair !== null && keys.includes(pair[1].replaceAll("_", "-")))
      yield [section, pair[2].replace(/^["'](.*)["'].*$/, "$1")];
  }
}

/** https://docs.astral.sh/uv/concepts/indexes: the index that is the default, else the older key. */
function ofUv(text) {
  const blocks = text.split(/^\s*\[\[index\]\]/m).slice(1);
  for (const block of blocks) {
    const own = block.split(/^\s*\[/m)[0];
    if (/^\s*default\s*=\s*true/m.test(own)) return /^\s*url\s*=\s*["'](.*?)["']/m.exec(own)?.[1];
  }
  for (const [section, url] of valuesOf(text, ["index-url", "default-index"]))
    if (["", "pip"].includes(section)) return url;
  return undefined;
}

/** https://pip.pypa.io/en/stable/topics/configuration: of a command's own section before the one for all. */
function ofPip(text) {
  const found = new Map(valuesOf(text, ["index-url"]));
  return found.get("download") ?? found.get("install") ?? found.get("global");
}

function places(env, platform, home) {
  const config = env.XDG_CONFIG_HOME || join(home, ".config");
  const roaming = env.APPDATA || join(home, "AppData", "Roaming");
  const all = env.ProgramData || "C:\\ProgramData";
  const windows = platform === "win32";
  const pip = windows
    ? [join(roaming, "pip", "pip.ini"), join(home, "pip", "pip.ini"), join(all, "pip", "pip.ini")]
    : [
        ...(platform === "darwin" ? [join(home, "Library", "Application Support", "pip", "pip.conf")] : []),
        join(config, "pip", "pip.conf"),
        join(home, ".pip", "pip.conf"),
        "/etc/pip.conf",
        "/etc/xdg/pip/pip.conf",
      ];
  const uv = windows
    ? [join(roaming, "uv", "uv.toml"), join(all, "uv", "uv.toml")]
    : [join(config, "uv", "uv.toml"), "/etc/uv/uv.toml"];
  const venv = env.VIRTUAL_ENV ? [join(env.VIRTUAL_ENV, windows ? "pip.ini" : "pip.conf")] : [];
  const named = (variable) => (env[variable] ? [env[variable]] : []);
  return [
    ...[...named("UV_CONFIG_FILE"), ...uv].map((file) => [file, ofUv]),
    ...[...named("PIP_CONFIG_FILE"), ...venv, ...pip].map((file) => [file, ofPip]),
  ];
}

const readIfThere = (file) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);

/** {url, from: the variable or file that names it}, or undefined where none does. */
export function namedIndex({
  env = process.env,
  platform = process.platform,
  home = homedir(),
  read = readIfThere,
} = {}) {
  for (const name of ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"]) {
    // uv takes NAME=URL as well.
    const url = env[name]?.replace(/^[\w-]+=(?=\w+:)/, "");
    if (url) return { url, from: name };
  }
  for (const [file, urlIn] of places(env, platform, home)) {
    const text = read(file);
    const url = text === undefined ? undefined : urlIn(text);
    if (url) return { url, from: file };
  }
  return undefined;
}

const unescaped = (text) =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");

/** [{filename, url, sha256?}] of a page of an index, in JSON or in HTML. */
export function filesOf(text, page) {
  if (/^\s*\{/.test(text))
    return JSON.parse(text).files.map(({ filename, url, hashes }) => ({
      filename,
      url: new URL(url, page).href,
      sha256: hashes?.sha256,
    }));
  return [...text.matchAll(/<a\b[^>]*?href\s*=\s*["']([^"']+)["'][^>]*>([^<]*)<\/a>/gi)].map(
    ([, href, name]) => {
      const url = new URL(unescaped(href), page);
      const sha256 = /^#sha256=([0-9a-f]{64})$/.exec(url.hash)?.[1];
      url.hash = "";
      return { filename: unescaped(name).trim(), url: url.href, sha256 };
    },
  );
}

/** NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl, where the platforms are several at times. */
function fits(filename, { name, version, python, platforms }) {
  const parts = filename.replace(/\.whl$/, "").split("-");
  if (!filename.endsWith(".whl") || parts.length < 5 || parts[1] !== version) return false;
  if (parts[0].toLowerCase() !== name.replaceAll("-", "_")) return false;
  const [interpreters, , tags] = parts.slice(-3).map((part) => part.split("."));
  const wanted = python === undefined ? [] : [`cp${python.replace(".", "")}`];
  return (
    interpreters.some((one) => ["py3", ...wanted].includes(one)) &&
    tags.some((tag) => tag === "any" || platforms.includes(tag))
  );
}

/** {filename, url, sha256?} of a wheel. @throws SetupError where the index does not have it */
export async function findWheel(index, wheel) {
  const page = `${index.url.replace(/\/+$/, "")}/${wheel.name}/`;
  const text = await fetchText(page, {
    accept: "application/vnd.pypi.simple.v1+json, text/html;q=0.5",
  });
  const found = filesOf(text, page).find(({ filename }) => fits(filename, wheel));
  if (found !== undefined) return found;
  throw new SetupError(
    `${withoutPassword(page)} has no wheel of ${wheel.name} ${wheel.version} for ${wheel.platforms.join(" or ")}`,
    `name an index that has it (${index.from} names this one)`,
  );
}
