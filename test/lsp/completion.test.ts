/** Completion, hover and signatures as an editor gets them: broken texts, files of the workspace, clients of all kinds. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  CompletionRequest,
  CompletionResolveRequest,
  SignatureHelpRequest,
  type CompletionItem,
} from "vscode-languageserver-protocol/node";
import { applied, cursor, startServer, type LanguageServer } from "../support/lspServer.ts";

const good = `tasks:
  - { env: countdown, numbers: [3, 4] }
  - { dataset: ./data/sums.jsonl, answer: "{answer}", difficulty: level }
models:
  judge: { base: tiny, trains: true, optimizer: { use: adamw, lr: 1.0e-4 }, value_heads: [quality] }
reward:
  terms:
    correct: { use: equation, weight: 1 }
    brevity: { use: ./rewards/brevity.ts, args: { limit: 3 } }
curriculum: { sampler: { use: boltzmann, temperature: 0.4 } }
evaluation: { pass_at: [1, 4] }
`;

describe("completion over the protocol", () => {
  let server: LanguageServer;
  let plain: LanguageServer;
  let folder = "";
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "gradus-complete-"));
    mkdirSync(join(folder, "data"));
    mkdirSync(join(folder, "rewards"));
    writeFileSync(join(folder, "parent.gradus.yaml"), "rollout: { group: 4 }\n");
    writeFileSync(
      join(folder, "data", "sums.jsonl"),
      '{"prompt":"1+1","answer":"2","level":"easy","meta":{"source":"a"}}\n{"prompt":"9*9","answer":"81","level":"hard"}\n',
    );
    writeFileSync(
      join(folder, "rewards", "brevity.ts"),
      `/** Pays for brevity. */\nexport function score({ response, args: { limit, unit = "letters" } }: { response: string; args: { limit: number; unit?: string } }): number {\n  return response.length > limit ? 0 : 1;\n}\nexport const other = () => 1;\n`,
    );
    writeFileSync(
      join(folder, "rewards", "style.py"),
      'def compute_score(data_source, solution_str, *, strict: bool = False) -> float:\n    """Judges style."""\n    return 0.0\n',
    );
    const capabilities = { textDocument: { completion: { completionItem: { snippetSupport: true } } } };
    server = await startServer({ capabilities });
    plain = await startServer();
  });
  after(async () => {
    assert.equal(await server.stop(), 0);
    assert.equal(await plain.stop(), 0);
    rmSync(folder, { recursive: true, force: true });
  });

  async function offered(marked: string, at = server): Promise<CompletionItem[]> {
    const { text, position } = cursor(marked);
    await at.open(folder, "a.gradus.yaml", good);
    await at.change(text);
    return at.complete(position);
  }
  async function accepted(marked: string, label: string, at = server): Promise<string> {
    const { text } = cursor(marked);
    const items = await offered(marked, at);
    const item = items.find((one) => one.label === label);
    assert.ok(
      item?.textEdit && "range" in item.textEdit,
      `${label} not in ${items.map((one) => one.label).join(" ")}`,
    );
    return applied(text, [...(item.additionalTextEdits ?? []), item.textEdit]);
  }

  const cases: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
    [
      "metrics of terms, arms, models and k",
      `${good}stages: [{ name: a, until: { metric: | } }]\n`,
      [
        "reward/correct",
        "reward/brevity/errors",
        "curriculum/countdown/4/share",
        "eval/sums/hard/pass@4",
        "eval/pass@1",
        "policy/kl/judge",
      ],
      ["eval/pass@k", "reward/<term>"],
    ],
    [
      "metrics of evaluations",
      `${good}checkpoint: { best: { metric: | } }\n`,
      ["eval/greedy", "eval/pass@4"],
      ["reward/total"],
    ],
    ["models", `${good}kl:\n  - model: |\n`, ["reference", "judge"], ["policy"]],
    ["value heads", `${good}objective: { value: { use: value_clipped, head: | } }\n`, ["quality"], []],
    [
      "terms that are not there yet",
      `${good.replace("terms:\n", "success: { terms: [correct, |] }\n  terms:\n")}`,
      ["brevity"],
      ["correct"],
    ],
    ["tasks of a term", good.replace("weight: 1 }", "weight: 1, tasks: [|] }"), ["countdown", "sums"], []],
    [
      "reward methods and files",
      good.replace("equation", "|"),
      ["equation", "exact_match", "./rewards/brevity.ts", "./rewards/style.py"],
      ["user", "python"],
    ],
    [
      "the functions of a reward file",
      good.replace("./rewards/brevity.ts", "./rewards/brevity.ts:|"),
      ["./rewards/brevity.ts:score", "./rewards/brevity.ts:other"],
      ["equation"],
    ],
    ["what a function takes from args", good.replace("limit: 3", "limit: 3, |"), ["unit"], ["limit"]],
    [
      "what a Python function takes",
      good.replace("./rewards/brevity.ts, args: { limit: 3", "./rewards/style.py, args: { |"),
      ["strict"],
      ["data_source"],
    ],
    [
      "fields in a template",
      good.replace('"{answer}"', '"It is {|"'),
      ["answer}", "meta.source}"],
      ["numbers}"],
    ],
    ["a field", good.replace("level", "|"), ["level", "prompt"], []],
    [
      "templates of an environment",
      good.replace("[3, 4]", '[3, 4], prompt: "{|}"'),
      ["numbers", "target"],
      ["answer"],
    ],
    ["parents", `extends: ./|\n${good}`, ["./parent.gradus.yaml", "./data/"], ["./a.gradus.yaml", "grpo"]],
    [
      "files without a dot",
      good.replace("./data/sums.jsonl", "da|"),
      ["data/sums.jsonl"],
      ["./data/sums.jsonl"],
    ],
    ["the usual list", `${good}evaluation: { every: 5, pass_at: | }`, ["[1, 8]"], []],
    ["presets in a list", `extends: [grpo, |]\n${good}`, ["dapo", "./parent.gradus.yaml"], []],
    ["sizes", `${good}engine: { memory: | }\n`, ["8GiB"], []],
    ["booleans", good.replace("trains: true", "trains: |"), ["true", "false"], []],
    [
      "schedules",
      good.replace("weight: 1", "weight: |"),
      ["{ schedule: linear, from: 1, to: 0, over: 100 }"],
      [],
    ],
    ["lists of words", `${good}stages: [{ name: a, on_enter: | }]\n`, ["[refresh_reference]"], []],
    ["inside quotes", good.replace("boltzmann", '"bo|"'), ["boltzmann"], []],
    ["in a quote that is not closed", `${good}objective: { use: "|\nseed: 3\n`, ["clipped"], []],
    ["directly behind a colon", `${good}objective:|`, ["clipped"], []],
    ["between two keys", good.replace("use: equation,", "use: equation, |"), ["tasks"], ["use", "weight"]],
    [
      "after what is not closed",
      good.replace("[3, 4] }", "[3, 4 }").replace("equation,", "equation, |"),
      ["tasks"],
      [],
    ],
    [
      "below a wrong indentation",
      `${good}rollout:\n     prompts: 3\n   gr|`,
      ["group"],
      ["prompts", "tasks"],
    ],
    ["with a tab", `${good}rollout:\n\t|`, ["group"], ["tasks"]],
    ["an item without its dash", `tasks:\n  - env: countdown\n  |\n`, ["env", "dataset"], ["tasks"]],
    ["nothing in a comment", `${good}rollout: # |`, [], ["group"]],
    ["an empty file", "|", ["tasks", "extends"], []],
  ];
  for (const [name, marked, wanted, unwanted] of cases)
    it(`offers ${name}`, async () => {
      for (const text of [marked, marked.replaceAll("\n", "\r\n")]) {
        const labels = (await offered(text)).map(({ label }) => label);
        for (const label of wanted) assert.ok(labels.includes(label), `${label} not in ${labels.join(" ")}`);
        for (const label of unwanted) assert.ok(!labels.includes(label), `${label} in ${labels.join(" ")}`);
      }
    });

  const writes: readonly (readonly [string, string, string, string, string])[] = [
    [
      "a block's key with its depth",
      "rollout:\n  group: 4\nrew|",
      "reward",
      "rollout:\n  group: 4\nreward:\n  ",
      "rollout:\n  group: 4\nreward:\n  ",
    ],
    ["a list's key with a dash", "ta|", "tasks", "tasks:\n  - ", "tasks:\n  - "],
    ["a key in brackets", "reward: { te| }", "terms", "reward: { terms: { $1 } }", "reward: { terms: {  } }"],
    ["a key whose colon is there", "r|: 1", "reward", "reward: 1", "reward: 1"],
    [
      "what a method cannot do without",
      "mask: [s|]",
      "stale",
      "mask: [{ use: stale, max_lag: ${1:1} \\}]",
      "mask: [{ use: stale, max_lag: 1 }]",
    ],
    [
      "the same below its use",
      "mask:\n  - use: s|",
      "stale",
      "mask:\n  - use: stale\n    max_lag: ${1:1}",
      "mask:\n  - use: stale\n    max_lag: 1",
    ],
    ["a space behind a colon", "objective:|", "clipped", "objective: clipped", "objective: clipped"],
    [
      "a comma before what follows",
      "objective: { use: clipped, | low: 0.1 }",
      "high",
      "objective: { use: clipped, high: $1,  low: 0.1 }",
      "objective: { use: clipped, high: ,  low: 0.1 }",
    ],
    [
      "a closing quote",
      'objective: { use: "|',
      "clipped",
      'objective: { use: "clipped"',
      'objective: { use: "clipped"',
    ],
    [
      "at the proper depth",
      "rollout:\n  prompts: 3\n   gr|",
      "group",
      "rollout:\n  prompts: 3\n  group: ",
      "rollout:\n  prompts: 3\n  group: ",
    ],
    [
      "the dash of an item",
      "tasks:\n  - env: countdown\n  |",
      "env",
      "tasks:\n  - env: countdown\n  - env: ",
      "tasks:\n  - env: countdown\n  - env: ",
    ],
    [
      "a word that needs quotes",
      "tasks: [{ env: arithmetic, operators: [|] }]",
      "-",
      'tasks: [{ env: arithmetic, operators: ["-"] }]',
      'tasks: [{ env: arithmetic, operators: ["-"] }]',
    ],
    [
      "over all of a text that the cursor is before, whatever is in it",
      'curriculum: { sampler: |"said: by, a }" }',
      "boltzmann",
      "curriculum: { sampler: boltzmann }",
      "curriculum: { sampler: boltzmann }",
    ],
    [
      "the same after an anchor",
      'curriculum:\n  sampler: &how |"said: by"\n',
      "boltzmann",
      "curriculum:\n  sampler: &how boltzmann\n",
      "curriculum:\n  sampler: &how boltzmann\n",
    ],
  ];
  for (const [name, marked, label, withPlaces, without] of writes)
    it(`writes ${name}`, async () => {
      assert.equal(await accepted(marked, label), withPlaces);
      assert.equal(await accepted(marked, label, plain), without);
    });

  it("puts first what is needed, then what is usual, and chooses the default", async () => {
    const top = await offered("|");
    const order = [...top]
      .sort((a, b) => String(a.sortText).localeCompare(String(b.sortText)))
      .map(({ label }) => label);
    assert.deepEqual(order.slice(0, 2), ["tasks", "reward"]);
    const usual = await offered(`${good}objective: |`);
    assert.equal(usual[0]?.label, "clipped");
    assert.equal(usual[0].preselect, true);
    assert.deepEqual(
      (await offered(`${good}rollout: { group: | }`)).map(({ label }) => label),
      ["8"],
    );
    const chosen = await offered(`${good}rollout: { chat: | }`);
    assert.deepEqual(
      chosen.filter(({ preselect }) => preselect === true).map(({ label }) => label),
      ["auto"],
    );
    const flag = await offered(`${good}tasks: [{ dataset: ./x.jsonl, overlong: | }]`);
    assert.deepEqual(
      flag.filter(({ preselect }) => preselect === true).map(({ label }) => label),
      ["filter"],
    );
  });

  it("describes an item when it is looked at", async () => {
    const { text, position } = cursor(`${good}objective: |`);
    await server.change(text);
    const found = await server.ask(CompletionRequest.type, { position });
    const items = Array.isArray(found) ? found : (found?.items ?? []);
    const item = items.find(({ label }) => label === "clipped");
    assert.ok(item !== undefined && item.documentation === undefined);
    const { documentation } = await server.request(CompletionResolveRequest.type, item);
    assert.ok(typeof documentation === "object");
    assert.match(documentation.value, /\*\*clipped\*\*/);
    assert.match(documentation.value, /`low`/);
  });

  it("shows the parameters of what is written in brackets", async () => {
    const help = async (marked: string) => {
      const { text, position } = cursor(marked);
      await server.change(text);
      const found = await server.ask(SignatureHelpRequest.type, { position });
      return `${found?.signatures[0]?.label ?? ""} @${String(found?.activeParameter ?? "")}`;
    };
    assert.match(
      await help(`${good}objective: { use: clipped, low: 0.1, high: | }`),
      /^clipped \{ low\?, high\?.* \} @1$/,
    );
    assert.equal(
      await help(good.replace("limit: 3", "limit: |")),
      'score { limit: number, unit: string = "letters" } @0',
    );
    const own = await help(good.replace("limit: 3", "limit: 3 }, wei|"));
    assert.match(own, /^score \{ .*args\?.* \}/);
    assert.doesNotMatch(own, /file|export/);
    assert.equal(await help("rollout:\n  gro|"), " @");
  });

  it("explains rewards of one's own, files, names, metrics, presets and schedules", async () => {
    const text = `extends: sec\n${good}stages:\n  - { name: a, until: { metric: eval/pass@4, above: 0.9 }, rollout: { temperature: { schedule: linear, from: 1, to: 0.5, over: 100 } } }\nkl: [{ model: judge }]\n`;
    await server.open(folder, "h.gradus.yaml", text);
    assert.deepEqual(
      (await server.change(text)).diagnostics.filter(({ severity }) => severity === 1),
      [],
    );
    const at = (word: string): Promise<string> => {
      const head = text.slice(0, text.indexOf(word) + 2).split("\n");
      return server.hover({ line: head.length - 1, character: head.at(-1)?.length ?? 0 });
    };
    assert.match(
      await at("./rewards/brevity.ts"),
      /score\(.*\): number[\s\S]*Pays for brevity\.[\s\S]*`limit: number`[\s\S]*brevity\.ts:2/,
    );
    assert.match(await at("limit:"), /`limit: number`/);
    const [, name = ""] = /(\w+): \{ use: \.\/rewards\/brevity\.ts/.exec(text) ?? [];
    assert.match(
      await at(`${name}: { use: ./rewards`),
      new RegExp(`^\\*\\*${name}\\*\\*: .*of \`brevity\\.ts\`; weight 1\\.[\\s\\S]*score\\(`),
    );
    assert.match(await at("./data/sums.jsonl"), /`answer`: 2[\s\S]*`meta\.source`: a/);
    assert.match(await at("eval/pass@4"), /Unbiased pass@k[\s\S]*From 0 to 1[\s\S]*Higher is better/);
    assert.match(
      await at("sec"),
      /Self-Evolving[\s\S]*sampler: \{ use: boltzmann[\s\S]*presets\/sec\.yaml\]\(file:/,
    );
    assert.match(
      await at("temperature: { schedule"),
      /\| step \| 0 \| 25 \| 50 \| 75 \| 100 \|[\s\S]*\| value \| 1 \| 0\.875 \| 0\.75 \| 0\.625 \| 0\.5 \|/,
    );
    assert.match(await at("model: judge"), /--set kl\.0\.model/);
    assert.match(await at("judge }]"), /The model `judge`/);
    assert.match(await at("boltzmann"), /docs\/methods\/sampler\.md#boltzmann/);
  });

  it("says what a line overrides, and whose that was", async () => {
    const text = `extends: dapo\n${good}objective: { low: 0.1 }\nrollout: { group: 4 }\n`;
    await server.open(folder, "o.gradus.yaml", text);
    const line = text.split("\n").findIndex((one) => one.startsWith("objective"));
    assert.match(
      await server.hover({ line, character: 14 }),
      /Without this line: `0\.2`, from \[dapo\.yaml:\d+\]\(file:.*\) through dapo\./,
    );
    assert.doesNotMatch(await server.hover({ line: line + 1, character: 12 }), /Without this line/);
  });

  it("completes a file that never was whole", async () => {
    const { text, position } = cursor(`extends: dapo\n${good.replace("[3, 4] }", "[3, 4 }")}objective: { | `);
    await server.open(folder, "never.gradus.yaml", text);
    const labels = (await server.complete(position)).map(({ label }) => label);
    for (const label of ["low", "high", "aggregate"]) assert.ok(labels.includes(label), labels.join(" "));
  });

  it("explains what still makes sense in a broken text", async () => {
    const text = `${good.replace("[3, 4] }", "[3, 4 }")}rollout: { group: 4\n`;
    await server.change(text);
    const line = text.split("\n").findIndex((one) => one.startsWith("rollout"));
    assert.match(await server.hover({ line, character: 12 }), /rollout\.group/);
  });
});
