// Chromium for the tests: $CHROMIUM, one on the system, or Debian's package where this may install it.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installCommand } from "../../shared/lib/systemWords.mjs";
import { answers, attempt, lastLines, say } from "./process.mjs";

const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];
const others = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** Path of a browser on this system, or undefined. A wrong $CHROMIUM is an error, not a reason to take another. */
export function findBrowser(env = process.env) {
  if (env.CHROMIUM) return existsSync(env.CHROMIUM) ? env.CHROMIUM : undefined;
  const onPath = names.flatMap((name) =>
    (env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)),
  );
  return [...onPath, ...others].find((file) => existsSync(file));
}

/** {path} or {skip: the reason}. */
export async function setUpBrowser() {
  const found = findBrowser();
  if (found !== undefined) return { path: found };
  if (process.env.CHROMIUM) return { skip: `$CHROMIUM names ${process.env.CHROMIUM}, which does not exist` };
  if (process.getuid?.() !== 0 || !answers("apt-get"))
    return { skip: `Chromium was not found: ${installCommand("browser")}, or name one in CHROMIUM` };
  say("installing Chromium for the tests");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await attempt("apt-get", ["update", "-qq"], { env });
  const { status, output } = await attempt(
    "apt-get",
    ["install", "-y", "-qq", "--no-install-recommends", "chromium"],
    { env },
  );
  const installed = findBrowser();
  return installed === undefined
    ? { skip: `apt-get install chromium ended with ${status}: ${lastLines(output, 1).trim()}` }
    : { path: installed };
}
