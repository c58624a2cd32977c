// The programs that tests start, built once for all of them: dist/ as it ships, and the worker of the tests of daemons.
import { build } from "esbuild";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { entries, tests } from "../../esbuild.mjs";

/** Environment by which tests find the programs; a test that is run alone builds its own, into a folder of its own. */
export async function buildPrograms(folder = join("out", "programs")) {
  const base = resolve(folder);
  rmSync(base, { recursive: true, force: true });
  // The command line, the process of programs, what travels with projects, and the files of Python.
  const [program, sandbox, service, python] = entries;
  await Promise.all([
    ...[program, sandbox, service, python].map((entry) => build({ ...entry, outdir: join(base, "dist") })),
    build({ ...tests(["test/rpc/worker.ts"]), outdir: join(base, "test") }),
  ]);
  return {
    GRADUS_TEST_CLI: join(base, "dist", "cli.mjs"),
    GRADUS_TEST_WORKER: join(base, "test", "rpc", "worker.mjs"),
  };
}
