// One build script: a table of entry points. `node esbuild.mjs [--watch] [--production] [--outdir=dist]`
import { build, context } from "esbuild";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { carried, carry } from "./scripts/package/carry.mjs";
import { collectWorks, nativeWorks, noticesText, tableWorks } from "./scripts/package/notices.mjs";

const argv = process.argv.slice(2);
const production = argv.includes("--production");
/** Production bundles go elsewhere: a daemon may be running out of dist. */
const dist = argv.find((word) => word.startsWith("--outdir="))?.slice("--outdir=".length) ?? "dist";
process.chdir(import.meta.dirname);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/** Native modules and what must stay a folder on disk: loaded by server/lib/natives.ts from where set-up put them. */
export const natives = ["better-sqlite3", "libsql", "esbuild"];
/** tfjs asks for it where there is no `fetch`, which every Node that we run on has. */
const unused = ["node-fetch"];

const shared = {
  bundle: true,
  sourcemap: production ? false : "linked",
  minify: production,
  logLevel: "warning",
  define: { GRADUS_VERSION: JSON.stringify(version) },
};
/** CommonJS dependencies inside an ES module bundle still call `require`, and ask for their folder. */
const banner = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url), __dirname = import.meta.dirname;',
};
const node = {
  ...shared,
  platform: "node",
  target: "node20",
  format: "esm",
  banner,
  external: [...natives, ...unused],
  outExtension: { ".js": ".mjs" },
};

export const entries = [
  {
    ...node,
    entryPoints: {
      cli: "server/cli.ts",
      storeThread: "server/store/thread.ts",
      explainThread: "server/daemon/explain/explainThread.ts",
      experimentThread: "server/daemon/experiments/experimentThread.ts",
      tokensThread: "server/daemon/tokens/tokensThread.ts",
      rescoreThread: "server/daemon/rescore/rescoreThread.ts",
      rewardThread: "server/daemon/rewardChecks/rewardThread.ts",
      datasetThread: "server/analysis/datasetThread.ts",
      mathsThread: "server/lib/maths/mathsThread.ts",
      rewardHost: "server/methods/reward/own/host.ts",
      objectHost: "server/lib/own/objectHost.ts",
    },
    outdir: dist,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
  },
  // Its process may read nothing but this file: one, without parts that others share.
  {
    ...node,
    entryPoints: { sandboxProcess: "server/lib/sandbox/sandboxProcess.ts" },
    outdir: dist,
  },
  // Travels with exported projects: one file, without a module that is built for a machine.
  {
    ...node,
    entryPoints: { service: "server/frameworks/carried/service/main.ts" },
    outdir: dist,
    minify: true,
    sourcemap: false,
  },
  // Runs under a Python of the user's, as it is.
  {
    entryPoints: {
      rewardHost: "server/methods/reward/own/python/rewardHost.py",
      objectHost: "server/lib/own/python/objectHost.py",
      rowsHost: "server/frameworks/use/rows/rowsHost.py",
      rowsArguments: "server/frameworks/use/rows/rowsArguments.py",
      rowsSamples: "server/frameworks/use/rows/rowsSamples.py",
      rowsSlice: "server/frameworks/use/rows/rowsSlice.py",
      rowsDatasets: "server/frameworks/use/rows/rowsDatasets.py",
      reasoningGym: "server/methods/tasks/reasoningGym/reasoningGym.py",
      mathVerify: "server/methods/reward/maths/mathVerify.py",
      gradus_hook: "server/cli/hook/gradus_hook.py",
      trlTrain: "server/frameworks/trainers/trl/project/train.py",
      rewardParts: "server/frameworks/carried/reward/parts.py",
      projectLaunch: "server/frameworks/carried/launch.sh",
      siteProbe: "server/sites/check/siteProbe.py",
      gradus_curriculum: "server/frameworks/carried/service/gradus_curriculum.py",
      verlLaunch: "server/frameworks/trainers/verl/project/launch.sh",
      verlManager: "server/frameworks/trainers/verl/project/manager.py",
      verlCurriculum: "server/frameworks/trainers/verl/project/curriculum.py",
      openrlhfLaunch: "server/frameworks/trainers/openrlhf/project/launch.sh",
      openrlhfTrain: "server/frameworks/trainers/openrlhf/project/train.py",
      openrlhfAgent: "server/frameworks/trainers/openrlhf/project/agent.py",
      primeLaunch: "server/frameworks/trainers/primeRl/project/launch.sh",
      primeTasks: "server/frameworks/trainers/primeRl/project/gradus_tasks.py",
      primeCurriculum: "server/frameworks/trainers/primeRl/project/curriculum.py",
      primeAlgorithm: "server/frameworks/trainers/primeRl/project/gradus_algorithm.py",
      primeLoss: "server/frameworks/trainers/primeRl/project/gradus_loss.py",
      skyrlLaunch: "server/frameworks/trainers/skyrl/project/launch.sh",
      skyrlTrain: "server/frameworks/trainers/skyrl/project/train.py",
      skyrlExperiment: "server/frameworks/trainers/skyrl/project/experiment.py",
    },
    outdir: dist,
    loader: { ".py": "copy", ".sh": "copy" },
    logLevel: "warning",
  },
  {
    ...shared,
    // What the editor loads is small; it loads the rest when there is something to do.
    entryPoints: {
      extension: "extension/wake/index.ts",
      look: "extension/wake/look.ts",
      workbench: "extension/extension.ts",
    },
    outdir: dist,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode", "./look.js", "./workbench.js"],
  },
  {
    ...shared,
    entryPoints: {
      runPanel: "webviews/run/main.ts",
      comparePanel: "webviews/compare/main.ts",
      judgePanel: "webviews/judge/main.ts",
    },
    outdir: `${dist}/webviews`,
    platform: "browser",
    target: "chrome120",
    format: "iife",
  },
];

/** Tests of every tier but the workbench's run as ES modules under node's own runner. */
export const tests = (patterns) => ({
  ...node,
  entryPoints: patterns,
  outdir: "out/test",
  outbase: "test",
  packages: "external",
  banner: {},
  // Hundreds of tests share what they test: one bundle each would be a gigabyte and a minute.
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
});

/** The workbench's tests are loaded by the editor's extension host, as CommonJS under mocha. */
export const workbenchTests = (patterns) => ({
  ...shared,
  entryPoints: patterns,
  outdir: "out/test",
  outbase: "test",
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode", "mocha", ...natives],
});

/** The JSON Schema of a config, for YAML tooling that knows nothing of Gradus. */
const schema = () =>
  execFileSync(process.execPath, [`${dist}/cli.mjs`, "schema", "--json"], { maxBuffer: 1 << 26 });

/** The pages on methods, rules and presets, made of their declarations: what `gradus rules ID`, hovers and SARIF link to. */
async function writePages() {
  const outdir = "out/pages";
  await build({ ...tests(["server/cli/reference/index.ts"]), outdir, outbase: "server/cli/reference" });
  const { generatedPages } = await import(new URL(`${outdir}/index.mjs`, import.meta.url));
  rmSync(`${dist}/docs`, { recursive: true, force: true });
  for (const [path, text] of generatedPages()) {
    mkdirSync(dirname(join(dist, "docs", path)), { recursive: true });
    writeFileSync(join(dist, "docs", path), text);
  }
}

/** What the licences of bundled and carried libraries ask for. A project that is exported takes one file along: with its own. */
function writeNotices(metafiles) {
  const modules = realpathSync("node_modules");
  const title = (what) =>
    `${what} Gradus ${version} holds these works of others, each under its own licence.`;
  const works = [...collectWorks({ metafiles, carried, modules }), ...tableWorks("."), ...nativeWorks()];
  writeFileSync(`${dist}/THIRD_PARTY_NOTICES.txt`, noticesText(title("The package of"), works));
  const service = `${dist}/service.mjs`;
  const own = metafiles.filter(({ outputs }) =>
    Object.keys(outputs).some((name) => basename(name) === basename(service)),
  );
  const text = noticesText(title("This file of"), collectWorks({ metafiles: own, modules }));
  appendFileSync(service, `\n/*!\n${text.replaceAll("*/", "* /")}*/\n`);
}

if (import.meta.filename === process.argv[1] || process.argv[1]?.endsWith("esbuild.mjs")) {
  if (production) rmSync(dist, { recursive: true, force: true });
  if (argv.includes("--watch"))
    for (const entry of entries) await (await context({ ...entry, logLevel: "info" })).watch();
  else {
    // Else the command would print what an earlier build has written.
    rmSync(`${dist}/gradus.schema.json`, { force: true });
    const built = await Promise.all(entries.map((entry) => build({ ...entry, metafile: true })));
    writeNotices(built.map(({ metafile }) => metafile));
    if (production)
      await carry({ modules: "node_modules", out: join(dist, "carried"), cache: join("out", "carried") });
    writeFileSync(`${dist}/gradus.schema.json`, schema());
    await writePages();
  }
}
