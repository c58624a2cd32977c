// The bundle in dist/, made when the sources are newer. An installed extension brings its own.
import { join } from "node:path";
import { home, isCheckout } from "./places.mjs";
import { must, say } from "./process.mjs";
import { bundleStamp, fingerprint, isBundled } from "./stamp.mjs";
import { writeFile } from "./places.mjs";

/** Chunks that a running daemon may still load are never removed here; `npm run package` starts from an empty dist. */
export async function bundle() {
  if (!isCheckout || isBundled(home)) return;
  const before = fingerprint(home);
  say("bundling");
  await must(process.execPath, [join(home, "esbuild.mjs")], {
    what: "bundling",
    fix: "fix the source named above",
    cwd: home,
  });
  // The state that was read, not the present one: an edit made meanwhile is bundled the next time.
  writeFile(bundleStamp(home), before);
}
