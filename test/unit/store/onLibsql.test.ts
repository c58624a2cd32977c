/** The store's tests again, on the SQLite package that is taken where no compiler is. */
import { test } from "node:test";
import { messageOf } from "../../../shared/lib/errors.ts";
import { nativeRequire } from "../../../server/lib/natives.ts";

const reason = whyNot();
if (reason === undefined) {
  process.env["GRADUS_SQLITE"] = "libsql"; // of this file's process alone: node runs each test file in its own
  await import("./store.test.ts");
  await import("./rollouts.test.ts");
  await import("./driver.test.ts");
  await import("./points.test.ts");
  await import("./whereAndSeries.test.ts");
  await import("./exported.test.ts");
} else test("the store on libsql", { skip: reason }, () => undefined);

function whyNot(): string | undefined {
  try {
    nativeRequire()("libsql");
    return undefined;
  } catch (error) {
    return `libsql is not installed (npm test installs it; no registry?): ${messageOf(error).split("\n")[0]}`;
  }
}
