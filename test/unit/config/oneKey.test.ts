/** A key is one declaration: a line in its block, and every place that knows of keys has it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { MarkupContent } from "vscode-languageserver";
import type { methodPages } from "../../../server/cli/reference/methods.ts";
import type { configSchema } from "../../../server/config/grammar/jsonSchema.ts";
import type { completionsAt } from "../../../server/language/completion/completion.ts";
import type { hoverAt } from "../../../server/language/hovers/hover.ts";
import type { loadConfig, LoadedConfig } from "../../../server/rules/load.ts";
import type { propose } from "../../../server/run/loop/settings.ts";

/** What knows of keys. */
interface Product {
  readonly loadConfig: typeof loadConfig;
  readonly configSchema: typeof configSchema;
  readonly completionsAt: typeof completionsAt;
  readonly hoverAt: typeof hoverAt;
  readonly methodPages: typeof methodPages;
  readonly propose: typeof propose;
}
const entry = `
export { loadConfig } from "./server/rules/load.ts";
export { configSchema } from "./server/config/grammar/jsonSchema.ts";
export { completionsAt } from "./server/language/completion/completion.ts";
export { hoverAt } from "./server/language/hovers/hover.ts";
export { methodPages } from "./server/cli/reference/methods.ts";
export { propose } from "./server/run/loop/settings.ts";
`;

/** The product, with a line before another one in a file of `server/core/blocks`. */
async function productWith(
  block: string,
  line: string,
  beforeLine: string,
  folder: string,
): Promise<Product> {
  const outfile = join(folder, `${block}.mjs`);
  await build({
    stdin: { contents: entry, resolveDir: process.cwd(), loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    plugins: [
      {
        name: "one line more",
        setup: ({ onLoad }) => {
          onLoad(
            { filter: new RegExp(`server[/\\\\]core[/\\\\]blocks[/\\\\]${block}\\.ts$`) },
            ({ path }) => {
              const text = readFileSync(path, "utf8");
              assert.equal(
                text.split(beforeLine).length,
                2,
                `${path} has not one place before ${beforeLine}`,
              );
              return { contents: text.replace(beforeLine, `${line}\n${beforeLine}`), loader: "ts" };
            },
          );
        },
      },
    ],
  });
  const product: Product = await import(pathToFileURL(outfile).href);
  return product;
}

const summary = "How wide the halo is, in tokens.";
const declared = `halo: scheduled(z.number().min(0), "${summary}", { default: 3, live: true }),`;
const file = join(process.cwd(), "halo.gradus.yaml");
const textWith = (block: string, own = ""): string =>
  `tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n${block}: { ${own} }\n`;

for (const [block, beforeLine, use] of [
  ["rollout", "    temperature: scheduled(", ""],
  ["objective", "    entropy: moving(", "use: clipped, "],
] as const)
  describe(`a key that a line adds to \`${block}\``, () => {
    let folder = "";
    let product: Product;
    const key = `${block}.halo`;
    const load = (own: string, set: readonly string[] = []): LoadedConfig =>
      product.loadConfig(file, { text: textWith(block, `${use}${own}`), set });
    const valueIn = ({ config }: LoadedConfig): unknown => {
      const read: Readonly<Record<string, unknown>> = { ...config?.top[block] };
      return read["halo"];
    };

    before(async () => {
      mkdirSync("out", { recursive: true });
      folder = mkdtempSync(join("out", "one-key-"));
      product = await productWith(block, declared, beforeLine, folder);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    it("has its default in the resolved config, and what a config writes", () => {
      assert.match(JSON.stringify(load("").tree[block]), /"halo":3/);
      assert.equal(valueIn(load("")), 3);
      assert.equal(valueIn(load("halo: 5")), 5);
      const schedule = "{ schedule: linear, from: 1, to: 2, over: 10 }";
      assert.deepEqual(valueIn(load(`halo: ${schedule}`)), {
        schedule: "linear",
        from: 1,
        to: 2,
        over: 10,
        start: 0,
      });
    });
    it("is held to its range", () => {
      const wrong = load("halo: -1").diagnostics.find((one) => one.key === key);
      assert.match(wrong?.message ?? "", /must be a number of at least 0 or a schedule/);
    });
    it("is offered by completion, with its default and what it says", () => {
      const text = textWith(block, use);
      const line = text.split("\n")[2]!;
      const list = product.completionsAt({
        text,
        position: { line: 2, character: line.length - 2 },
        merged: undefined,
        file,
        client: { snippets: true, suggest: true, described: true },
      });
      const index = list.items.findIndex(({ label }) => label === "halo");
      assert.deepEqual(list.items[index]?.labelDetails, { description: "default 3" });
      assert.match(list.says(index)?.value ?? "", /How wide the halo is/);
    });
    it("has a hover", () => {
      const loaded = load("halo: 5");
      const character = textWith(block, `${use}halo: 5`).split("\n")[2]!.indexOf("halo") + 1;
      const hover = product.hoverAt({
        root: loaded.source!,
        position: { line: 2, character },
        file,
        loaded,
      });
      assert.ok(MarkupContent.is(hover?.contents));
      assert.match(hover.contents.value, /How wide the halo is/);
      assert.match(hover.contents.value, /Default: `3`/);
    });
    it("may be set while a run is live", () => {
      const config = load("").config!;
      const proposed = (path: string) =>
        product.propose(
          { path, value: 7 },
          {
            config,
            present: 0,
            load: (more) =>
              load(
                "",
                more.map((one) => `${one.path}=${String(one.value)}`),
              ),
          },
        );
      assert.equal(proposed(key).accepted, true);
      const refused = proposed("model.width");
      assert.ok(!refused.accepted && refused.reason.includes(key), "the list of live keys lacks it");
    });
    // A slot's block has a page; the schema of a whole config takes seconds.
    if (block === "rollout") return;
    it("is in the JSON Schema", () => {
      const text = JSON.stringify(product.configSchema());
      assert.ok(text.includes(`"halo":{"description":"${summary}"`), "no property `halo` in the schema");
    });
    it("is in the documentation of its slot", () => {
      assert.match(product.methodPages().get("objective.md") ?? "", /`halo`.*How wide the halo is/);
    });
  });
