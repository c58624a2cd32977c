import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { after, test } from "node:test";
import { cruise } from "dependency-cruiser";
import walls, { floors, importers, trainerFloors } from "../../../.dependency-cruiser.mjs";
import { temporary } from "../support.ts";

const root = temporary();
after(() => rmSync(root, { recursive: true, force: true }));

/** `as`: only its type is imported. */
interface Import {
  readonly from: string;
  readonly to: string;
  readonly as?: "type";
}

const specifier = (from: string, to: string): string => {
  if (!to.includes("/")) return to;
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
};

/** Writes a project with these imports and nothing else; the walls' answers as `from → to`. */
async function refused(imports: readonly Import[]): Promise<ReadonlySet<string>> {
  rmSync(root, { recursive: true, force: true });
  const texts = new Map<string, string>();
  for (const { from, to, as } of imports) {
    if (to.includes("/")) texts.set(to, texts.get(to) ?? "export const there = 1;\nexport type There = 1;\n");
    const name = as === "type" ? "import type { There }" : "import { there }";
    texts.set(from, `${name} from "${specifier(from, to)}";\n${texts.get(from) ?? ""}`);
  }
  for (const [file, text] of texts) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const { tsConfig: _, ...options } = walls.options;
  const { output } = await cruise([...new Set([...texts.keys()].map((file) => file.split("/")[0]!))], {
    ...options,
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: walls.forbidden },
  });
  assert.ok(typeof output === "object");
  return new Set(output.summary.violations.map(({ from, to }) => `${from} → ${to}`));
}

/** A file of a room that nothing else has. */
const fileIn = (room: string, name: string): string =>
  room === "methods" ? `server/methods/kl/${name}.ts` : `server/${room}/${name}.ts`;

const mayImport = (from: string, to: string): boolean =>
  from === to ||
  (floors.indexOf(to) < floors.indexOf(from) &&
    (importers[to] === undefined || importers[to].includes(from)));

for (const as of [undefined, "type"] as const)
  test(`a room imports lower floors only${as === undefined ? "" : ", types included"}`, async () => {
    const pairs = floors.flatMap((from) =>
      floors.map((to) => ({ from, to, at: fileIn(from, `to_${to}`), target: fileIn(to, `of_${from}`) })),
    );
    const imports = pairs.map(({ at, target }) => ({ from: at, to: target, ...(as && { as }) }));
    const found = await refused(imports);
    for (const { from, to, at, target } of pairs)
      assert.equal(!found.has(`${at} → ${target}`), mayImport(from, to), `${from} imports ${to}`);
  });

test("a slot imports no other slot, nor the union of all", async () => {
  const found = await refused([
    { from: "server/methods/kl/a.ts", to: "server/methods/objective/b.ts", as: "type" },
    { from: "server/methods/kl/deep/c.ts", to: "server/methods/index.ts" },
    { from: "server/methods/kl/d.ts", to: "server/methods/kl/deep/e.ts" },
    { from: "server/methods/index.ts", to: "server/methods/kl/d.ts" },
  ]);
  assert.deepEqual([...found].sort(), [
    "server/methods/kl/a.ts → server/methods/objective/b.ts",
    "server/methods/kl/deep/c.ts → server/methods/index.ts",
  ]);
});

test("inside frameworks/ a room imports lower floors only", async () => {
  const pairs = trainerFloors.flatMap((from, low) =>
    trainerFloors.map((to, high) => ({
      from: `server/frameworks/${from}/to_${to}.ts`,
      to: `server/frameworks/${to}/of_${from}.ts`,
      upward: high > low,
    })),
  );
  const found = await refused(pairs.map(({ from, to }) => ({ from, to, as: "type" })));
  for (const { from, to, upward } of pairs)
    assert.equal(found.has(`${from} → ${to}`), upward, `${from} imports ${to}`);
});

test("a trainer knows no other trainer, nor the table of all", async () => {
  const folder = "server/frameworks/trainers";
  const found = await refused([
    { from: `${folder}/trl/rules/a.ts`, to: `${folder}/verl/b.ts`, as: "type" },
    { from: `${folder}/trl/c.ts`, to: `${folder}/index.ts` },
    { from: `${folder}/trl/lens/d.ts`, to: `${folder}/trl/e.ts` },
    { from: `${folder}/index.ts`, to: `${folder}/trl/c2.ts` },
  ]);
  assert.deepEqual([...found].sort(), [
    `${folder}/trl/c.ts → ${folder}/index.ts`,
    `${folder}/trl/rules/a.ts → ${folder}/verl/b.ts`,
  ]);
});

test("folders of frameworks/ form no circle", async () => {
  const trl = "server/frameworks/trainers/trl";
  const found = await refused([
    { from: `${trl}/lens/a.ts`, to: `${trl}/project/b.ts` },
    { from: `${trl}/project/c.ts`, to: `${trl}/lens/d.ts` },
  ]);
  assert.deepEqual([...found].sort(), [`${trl}/lens → ${trl}/project`, `${trl}/project → ${trl}/lens`]);
});

test("the four parts of the product know shared/ and nothing of each other", async () => {
  const parts = ["server/lib", "shared", "extension", "webviews"];
  const others = [...parts, "test", "bench"];
  const pairs = parts.flatMap((from) =>
    others
      .filter((to) => to !== from)
      .map((to) => [`${from}/${to.replace("/", "_")}.ts`, `${to}/there.ts`] as const),
  );
  const found = await refused(pairs.map(([from, to]) => ({ from, to })));
  for (const [from, to] of pairs)
    assert.equal(found.has(`${from} → ${to}`), !to.startsWith("shared/"), `${from} imports ${to}`);
});

test("the editor is for the extension only, native modules are not for it", async () => {
  const found = await refused([
    ...["server/cli", "shared", "webviews", "extension"].map((room) => ({
      from: `${room}/a.ts`,
      to: "vscode",
    })),
    ...["better-sqlite3", "libsql"].map((to) => ({ from: `extension/${to}.ts`, to })),
  ]);
  assert.deepEqual([...found].sort(), [
    "extension/better-sqlite3.ts → better-sqlite3",
    "extension/libsql.ts → libsql",
    "server/cli/a.ts → vscode",
    "shared/a.ts → vscode",
    "webviews/a.ts → vscode",
  ]);
});

test("files form no circle, not even of types", async () => {
  const found = await refused([
    { from: "server/run/step/a.ts", to: "server/run/loop/b.ts", as: "type" },
    { from: "server/run/loop/b.ts", to: "server/run/step/a.ts", as: "type" },
  ]);
  assert.deepEqual([...found], ["server/run/loop/b.ts → server/run/step/a.ts"]);
});
