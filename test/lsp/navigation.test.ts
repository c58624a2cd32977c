import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  DefinitionRequest,
  DocumentHighlightRequest,
  DocumentLinkRequest,
  PrepareRenameRequest,
  ReferencesRequest,
  RenameRequest,
  type Location,
  type Position,
} from "vscode-languageserver-protocol/node";
import type { LanguageServer } from "../support/lspServer.ts";
import { applied, startServer } from "../support/lspServer.ts";

const base = `tasks:
  - { env: countdown, numbers: [3, 4] }
  - { name: sums, env: arithmetic }
models:
  teacher: { base: tiny }
model: { base: tiny, value_heads: [value] }
kl: [{ model: teacher, place: loss }, { model: reference }]
rollout: { prompts: 8, group: 4, max_tokens: 16 }
reward:
  terms:
    correct: { use: equation, weight: 1, tasks: [countdown] }
    short: { use: ./rewards/short.ts:brief, weight: 0.1 }
    polite: { use: ./rewards/polite.py }
  success: { terms: [correct], at_least: 1 }
stages:
  - { name: easy, steps: 10, rollout: { group: 2 }, until: { metric: reward/correct, above: 0.8 } }
  - { name: hard, steps: 10, until: { metric: curriculum/countdown/4/share, above: 0.8 } }
  - { name: last, steps: 10, until: { metric: rollout/truncated, below: 0.1 } }
`;
const child = `extends: [dapo, ./base.gradus.yaml]
rollout: { group: 8 }
reward:
  terms:
    correct: { weight: 2 }
  success: { terms: ["correct"] }
stages:
  easy: { steps: 20 }
tasks:
  sums: { weight: 2 }
`;
/** Has a term of the same name, and nothing to do with the others. */
const stranger = `tasks: [{ env: countdown }]
reward: { terms: { correct: { use: equation } } }
`;

describe("navigation in a config", () => {
  let server: LanguageServer;
  let folder: string;
  before(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "gradus-navigation-")));
    mkdirSync(join(folder, "rewards"));
    mkdirSync(join(folder, "deep"));
    writeFileSync(
      join(folder, "rewards", "short.ts"),
      `// export const brief\n"brief";\nexport function brief() {\n  return 1;\n}\n`,
    );
    writeFileSync(
      join(folder, "rewards", "polite.py"),
      `"""def compute_score"""\n\ndef compute_score(x):\n    return 1\n`,
    );
    writeFileSync(join(folder, "base.gradus.yaml"), base);
    writeFileSync(join(folder, "child.gradus.yaml"), child);
    writeFileSync(join(folder, "deep", "stranger.gradus.yaml"), stranger);
    const uri = pathToFileURL(folder).href;
    server = await startServer({ rootUri: uri, workspaceFolders: [{ uri, name: "it" }] });
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  });

  const textOf = (uri: string): string => readFileSync(fileURLToPath(uri), "utf8");
  /** In `text`, where `word` begins in the first line that has `line`. */
  const at = (text: string, line: string, word: string): Position => {
    const index = text.split("\n").findIndex((one) => one.includes(line));
    const character = (text.split("\n")[index] ?? "").indexOf(word);
    assert.ok(index >= 0 && character >= 0, `${word} is not in a line with ${line}`);
    return { line: index, character: character + 1 };
  };
  /** `base.gradus.yaml:12: correct`, with the text the location covers. */
  const told = ({ uri, range }: Location): string => {
    const line = textOf(uri).split("\n")[range.start.line] ?? "";
    return `${basename(fileURLToPath(uri))}:${range.start.line + 1}: ${line.slice(range.start.character, range.end.character)}`;
  };
  const opened = new Set<string>();
  /** A document is opened once; later it is only turned to. */
  const turnTo = async (name: string, text: string): Promise<void> => {
    if (!opened.has(name)) await server.open(folder, name, text);
    opened.add(name);
    server.uri = pathToFileURL(join(folder, name)).href;
  };
  const openBase = () => turnTo("base.gradus.yaml", base);
  const openChild = () => turnTo("child.gradus.yaml", child);
  const define = async (text: string, line: string, word: string): Promise<string[]> => {
    const found = await server.ask(DefinitionRequest.type, { position: at(text, line, word) });
    const list = found === null ? [] : Array.isArray(found) ? found : [found];
    return list.map((one) => told("uri" in one ? one : { uri: one.targetUri, range: one.targetRange }));
  };
  const refer = async (
    text: string,
    line: string,
    word: string,
    includeDeclaration = true,
  ): Promise<string[]> => {
    const position = at(text, line, word);
    const found = await server.ask(ReferencesRequest.type, { position, context: { includeDeclaration } });
    return (found ?? []).map(told).sort();
  };

  it("finds what a name, a file and a metric mean", async () => {
    await openBase();
    assert.deepEqual(await define(base, "success:", "correct"), ["base.gradus.yaml:11: correct"]);
    assert.deepEqual(await define(base, "weight: 1, tasks", "countdown"), ["base.gradus.yaml:2: countdown"]);
    assert.deepEqual(await define(base, "kl:", "teacher"), ["base.gradus.yaml:5: teacher"]);
    assert.deepEqual(await define(base, "kl:", "reference"), ["base.gradus.yaml:6: model"]);
    assert.deepEqual(await define(base, "short:", "./rewards"), ["short.ts:3: brief"]);
    assert.deepEqual(await define(base, "polite:", "./rewards"), ["polite.py:3: compute_score"]);
    assert.deepEqual(await define(base, "name: easy", "correct, above"), ["base.gradus.yaml:11: correct"]);
    assert.deepEqual(await define(base, "name: hard", "/share"), ["base.gradus.yaml:2: 4"]);
    assert.deepEqual(await define(base, "name: hard", "countdown"), ["base.gradus.yaml:2: countdown"]);
    assert.deepEqual(await define(base, "name: last", "rollout/"), ["base.gradus.yaml:8: max_tokens"]);
  });

  it("leads from an override to what it overrides, and from a method to its page", async () => {
    await openChild();
    assert.deepEqual(await define(child, "rollout:", "group"), ["base.gradus.yaml:8: group"]);
    assert.deepEqual(await define(child, "correct: {", "correct"), ["base.gradus.yaml:11: correct"]);
    assert.deepEqual(await define(child, "success:", "correct"), ["base.gradus.yaml:11: correct"]);
    assert.deepEqual(await define(child, "easy:", "easy"), ["base.gradus.yaml:16: easy"]);
    assert.deepEqual(await define(child, "extends", "dapo"), ["dapo.yaml:1: "]);
    assert.deepEqual(await define(child, "extends", "./base"), ["base.gradus.yaml:1: "]);
    await openBase();
    assert.deepEqual(await define(base, "name: easy", "group"), ["base.gradus.yaml:8: group"]);
    const [page] = await define(base, "use: equation", "equation");
    assert.match(page ?? "", /^reward\.md:\d+: $/);
  });

  it("finds a name's references here and in what extends this, and nowhere else", async () => {
    await openBase();
    const everywhere = [
      "base.gradus.yaml:11: correct",
      "base.gradus.yaml:14: correct",
      "base.gradus.yaml:16: correct",
      "child.gradus.yaml:5: correct",
      "child.gradus.yaml:6: correct",
    ];
    assert.deepEqual(await refer(base, "use: equation", "correct"), everywhere);
    assert.deepEqual(await refer(base, "success", "correct", false), everywhere.slice(1));
    await openChild();
    assert.deepEqual(await refer(child, "success", "correct"), everywhere);
    await server.open(join(folder, "deep"), "stranger.gradus.yaml", stranger);
    assert.deepEqual(await refer(stranger, "reward", "correct"), ["stranger.gradus.yaml:2: correct"]);
  });

  it("marks a name in its own file, the writers apart from the readers", async () => {
    await openBase();
    const found = await server.ask(DocumentHighlightRequest.type, {
      position: at(base, "success", "correct"),
    });
    assert.deepEqual(
      (found ?? []).map(({ range, kind }) => [range.start.line + 1, kind]),
      [
        [11, 3],
        [14, 2],
        [16, 2],
      ],
    );
  });

  const renamed = async (
    text: string,
    line: string,
    word: string,
    newName: string,
  ): Promise<Record<string, string>> => {
    const edit = await server.ask(RenameRequest.type, { position: at(text, line, word), newName });
    const entries = Object.entries(edit?.changes ?? {});
    return Object.fromEntries(
      entries.map(([uri, edits]) => [basename(fileURLToPath(uri)), applied(textOf(uri), edits)]),
    );
  };

  it("renames a term in every file that shares it", async () => {
    await openChild();
    const changed = await renamed(child, "success", "correct", "right");
    assert.deepEqual(Object.keys(changed).sort(), ["base.gradus.yaml", "child.gradus.yaml"]);
    assert.equal(changed["base.gradus.yaml"], base.replaceAll("correct", "right"));
    assert.equal(changed["child.gradus.yaml"], child.replaceAll("correct", "right"));
  });

  it("renames stages, models and heads, and gives a task the name it went without", async () => {
    await openBase();
    const stage = await renamed(base, "name: easy", "easy", "gentle");
    assert.equal(stage["base.gradus.yaml"], base.replace("name: easy", "name: gentle"));
    assert.equal(stage["child.gradus.yaml"], child.replace("easy:", "gentle:"));
    const model = await renamed(base, "kl:", "teacher", "mentor");
    assert.equal(model["base.gradus.yaml"], base.replaceAll("teacher", "mentor"));
    const task = await renamed(base, "weight: 1, tasks", "countdown", "count");
    assert.equal(
      task["base.gradus.yaml"],
      base
        .replace("{ env: countdown", "{ name: count, env: countdown")
        .replace("tasks: [countdown]", "tasks: [count]")
        .replace("curriculum/countdown/4", "curriculum/count/4"),
    );
  });

  it("says why something cannot be renamed, before and after a name is typed", async () => {
    await openBase();
    const refusal = async (line: string, word: string): Promise<string> => {
      const position = at(base, line, word);
      return server.ask(PrepareRenameRequest.type, { position }).then(
        (range) => assert.fail(`it may be renamed: ${JSON.stringify(range)}`),
        (error: Error) => error.message,
      );
    };
    assert.match(await refusal("kl:", "reference"), /Gradus's own name for weights of the policy/);
    assert.match(await refusal("name: hard", "/share"), /rename the task/);
    assert.match(await refusal("name: last", "rollout/"), /`rollout\/truncated` is the name of a metric/);
    assert.match(await refusal("env: countdown", "countdown"), /because it has no `name`/);
    assert.match(await refusal("rollout:", "group"), /^Only the names of/);
    const range = await server.ask(PrepareRenameRequest.type, { position: at(base, "success", "correct") });
    assert.ok(range !== null && "placeholder" in range);
    assert.equal(range.placeholder, "correct");
    for (const [newName, why] of [
      ["short", /There is already a .*, in .*base\.gradus\.yaml:12/],
      ["", /needs a name/],
      ["a b", /use letters/],
      ["true", /YAML would not read it as text/],
      ["12", /YAML would not read it as text/],
      ["x: y", /use letters/],
    ] as const)
      await assert.rejects(renamed(base, "success", "correct", newName), why, newName);
  });

  it("links parents, reward files and the pages of rules that comments name", async () => {
    await openChild();
    const links = (await server.ask(DocumentLinkRequest.type, {})) ?? [];
    assert.deepEqual(
      links.map(({ target }) => basename(target ?? "")),
      ["dapo.yaml", "base.gradus.yaml"],
    );
    await openBase();
    const files = ((await server.ask(DocumentLinkRequest.type, {})) ?? []).map(({ target }) =>
      basename(target ?? ""),
    );
    assert.deepEqual(files, ["short.ts", "polite.py"]);
  });

  it("answers in files that are broken, empty or alone", async () => {
    for (const text of [
      "",
      "# nothing\n",
      "tasks: [",
      "reward:\n  terms:\n    a: {\n",
      "\tx: 1\n",
      "extends: ./gone.gradus.yaml\n",
      "a: &a [*a]\n",
      "tasks:\r\n  - é: ü\r\n",
    ]) {
      await server.open(folder, "odd.gradus.yaml", text);
      for (const line of text.split("\n").keys()) {
        const position = { line, character: 3 };
        await server.ask(DefinitionRequest.type, { position });
        await server.ask(ReferencesRequest.type, { position, context: { includeDeclaration: true } });
        await server.ask(DocumentHighlightRequest.type, { position });
        await assert.rejects(server.ask(PrepareRenameRequest.type, { position }));
      }
      await server.ask(DocumentLinkRequest.type, {});
      await server.close();
    }
  });
});
