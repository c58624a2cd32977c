/** Notices of third parties: every work that is bundled or carried has one, and what lacks one is named. */
import assert from "node:assert/strict";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

interface Work {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly texts: readonly string[];
  readonly bytes?: number;
  readonly within?: string;
}
interface Notices {
  collectWorks(from: {
    metafiles: readonly Metafile[];
    modules: string;
    carried?: Record<string, readonly string[]>;
  }): Work[];
  noticesText(title: string, works: readonly Work[]): string;
  tableWorks(home: string): Work[];
  packageFolder(file: string): string | undefined;
  licenceFiles(folder: string): string[];
}
const ofProject = async <Module>(file: string): Promise<Module> =>
  (await import(pathToFileURL(join(process.cwd(), file)).href)) as Module;

let notices: Notices;
let folder: string;
before(async () => {
  notices = await ofProject<Notices>("scripts/package/notices.mjs");
  folder = realpathSync(mkdtempSync(join(tmpdir(), "gradus-n-")));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Works of a bundle that imports all packages. */
async function worksOf(name: string, packages: Record<string, Record<string, string>>): Promise<Work[]> {
  const modules = join(folder, name, "node_modules");
  for (const [path, text] of Object.entries(packages).flatMap(([at, files]) =>
    Object.entries(files).map(([file, text]) => [join(modules, at, file), text] as const),
  )) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const main = join(folder, name, "main.js");
  const imports = Object.keys(packages).map(
    (at, index) => `import * as p${index} from "${at}"; console.log(p${index});`,
  );
  writeFileSync(main, imports.join("\n"));
  const { metafile } = await build({
    entryPoints: [main],
    bundle: true,
    write: false,
    metafile: true,
    outdir: "out",
  });
  return notices.collectWorks({ metafiles: [metafile], modules });
}
const manifest = (name: string, license: string | undefined, more: object = {}): string =>
  JSON.stringify({ name, version: "1.0.0", license, main: "index.js", ...more });
const library = {
  "package.json": manifest("good", "MIT"),
  "index.js": "export const a = 1;",
  LICENSE: "Copyright A",
};

test("a library without a licence file, or under a licence that is not listed, is named", async () => {
  await assert.rejects(
    worksOf("lacking", {
      good: library,
      bare: { "package.json": manifest("bare", "MIT"), "index.js": "export const b = 1;" },
      viral: {
        "package.json": manifest("viral", "GPL-3.0"),
        "index.js": "export const c = 1;",
        LICENSE: "GPL",
      },
      silent: {
        "package.json": manifest("silent", undefined),
        "index.js": "export const d = 1;",
        LICENSE: "?",
      },
    }),
    ({ message }: Error) => {
      assert.match(message, /^bare 1\.0\.0 has no file with its licence/m);
      assert.match(message, /^viral 1\.0\.0 is under GPL-3\.0/m);
      assert.match(message, /^silent 1\.0\.0 is under no licence/m);
      assert.doesNotMatch(message, /good/);
      return true;
    },
  );
});

test("libraries inside a library count: those that a bundler names, unseen dependencies, compiled parts", async () => {
  await assert.rejects(
    worksOf("inside", {
      outer: {
        "package.json": manifest("outer", "MIT", { dependencies: { unseen: "1" } }),
        "index.js":
          "//#region ../node_modules/.pnpm/inner@2.3.4_peer@1/node_modules/inner/index.js\nexport const a = 1;\n",
        LICENSE: "Copyright O",
      },
      compiled: {
        "package.json": manifest("compiled", "MIT"),
        "index.js": 'export const a = "AGFzbQEAAAA=";',
        LICENSE: "Copyright C",
      },
    }),
    ({ message }: Error) => {
      assert.match(message, /^inner 2\.3\.4 is under no licence/m);
      assert.match(message, /^unseen is under no licence/m);
      assert.match(message, /^compiled 1\.0\.0 has compiled parts/m);
      return true;
    },
  );
});

test("authors that only a source names are in the notice, its own are not said again", async () => {
  const [work] = await worksOf("comments", {
    good: {
      ...library,
      LICENSE: "Copyright (c) 2020 Ann",
      "index.js":
        "/* Copyright (c) 2020, Ann. All rights reserved. */\n// Ported from https://example.org/x by Bea\nexport const a = 1;",
    },
  });
  assert.deepEqual(work?.texts, ["Copyright (c) 2020 Ann", "Ported from https://example.org/x by Bea"]);
});

test("each library of a real bundle has its copyright line, its version and its bytes in the notices", async () => {
  const { entries } = await ofProject<{ entries: BuildOptions[] }>("esbuild.mjs");
  const service = entries.find(({ entryPoints }) => Object.hasOwn(entryPoints ?? {}, "service"));
  const { metafile } = await build({ ...service, write: false, metafile: true, outdir: "out/none" });
  const text = notices.noticesText(
    "Notices",
    notices.collectWorks({ metafiles: [metafile], modules: realpathSync("node_modules") }),
  );
  const folders = new Set(
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.keys(inputs).flatMap((file) => notices.packageFolder(file) ?? []),
    ),
  );
  assert.ok(folders.size > 10, `${folders.size} libraries`);
  for (const folder of folders) {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Work;
    assert.match(text, new RegExp(`^${name} +${version.replaceAll(".", "\\.")} +\\S+ +[\\d,]+$`, "m"));
    const [licence = ""] = notices.licenceFiles(folder);
    assert.ok(text.includes(licence), `${name}: its licence`);
  }
});

test("help texts of other trainers have theirs", () => {
  const text = notices.noticesText("Notices", notices.tableWorks(process.cwd()));
  for (const name of ["OpenRLHF", "SkyRL", "Transformers", "TRL", "verl"])
    assert.match(text, new RegExp(`^${name} .*Apache-2.0`, "m"));
});
