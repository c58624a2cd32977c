/** A list of the user's that takes a preset's method away: it is reported, and the fix keeps both. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import type { Json } from "../../../shared/lib/json.ts";
import { loadConfig, type LoadedConfig } from "../../../server/rules/load.ts";
import { isObject } from "../../../server/config/stages.ts";
import { applyEdits } from "../../../server/config/text/textEdits.ts";

const file = resolve("test/fixtures/config/rules/replacedList.none.yaml");
const load = (text: string): LoadedConfig => loadConfig(file, { text });
const lists = (loaded: LoadedConfig) => loaded.diagnostics.filter(({ rule }) => rule === "replaced-list");
const errors = (loaded: LoadedConfig): string[] =>
  loaded.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
const named = (loaded: LoadedConfig, key: "tasks" | "stages"): Map<string, Json> => {
  const list = loaded.tree[key];
  return new Map(
    (Array.isArray(list) ? list : []).map((item: Json) => [isObject(item) ? String(item["name"]) : "", item]),
  );
};
/** The text after the one fix of its one diagnostic. */
function mended(text: string): LoadedConfig {
  const [finding, ...others] = lists(load(text));
  assert.ok(finding !== undefined && others.length === 0, "one finding");
  const [fix] = finding.fixes;
  assert.ok(fix !== undefined, "a mend");
  const after = load(applyEdits(text, fix.edits));
  assert.deepEqual(lists(after), []);
  return after;
}

const making = readdirSync("presets")
  .filter(
    (name) => name.endsWith(".yaml") && /^ {4}generate:/m.test(readFileSync(join("presets", name), "utf8")),
  )
  .map((name) => name.replace(".yaml", ""));

const styles: Record<string, { readonly tasks: string; readonly names: readonly string[] }> = {
  "a block": {
    tasks: "tasks:\n  # mine\n  - name: sums\n    env: countdown\n    numbers: [3] # few\n",
    names: ["sums"],
  },
  "a block as far left as its key": {
    tasks: "tasks:\n- env: countdown\n  numbers: [4]\n- name: sums\n  env: countdown\n",
    names: ["countdown", "sums"],
  },
  "flow items": {
    tasks: "tasks:\n  - { env: countdown, weight: 2 }\n  - { name: sums, env: countdown }\n",
    names: ["countdown", "sums"],
  },
  "one line": {
    tasks: "tasks: [countdown, { name: sums, env: countdown, numbers: [5] }]\n",
    names: ["countdown", "sums"],
  },
  "several lines of flow": {
    tasks: "tasks:\n  [\n    { name: sums,\n      env: countdown },\n  ]\n",
    names: ["sums"],
  },
};

describe("a stage's own list of tasks", () => {
  const stage = (list: string, other = ""): string =>
    `extends: envgen\nreward: { terms: { right: { use: format, tags: [a] } } }\nstages:\n  - name: first\n    steps: 4\n${list}${other}`;
  for (const [style, { tasks, names }] of Object.entries(styles))
    it(`${style}: it is reported, and the fix keeps the preset's method in the stage`, () => {
      const list = tasks.replaceAll(/^(?=.)/gm, "    ");
      const text = stage(list);
      const [finding] = lists(load(text));
      assert.equal(finding?.severity, "warning");
      assert.match(
        finding.message,
        /In the stage `first` .*`generated`, which carries its method, is lost\./,
      );
      const after = mended(text);
      assert.deepEqual(errors(after), []);
      const tasksOf = after.config?.stages[0]?.body.tasks.map(({ name }) => name) ?? [];
      assert.deepEqual([...tasksOf].sort(), ["generated", ...names].sort());
    });
  it("is a remark where another stage keeps the method", () => {
    const text = stage("    tasks: [countdown]\n", "  - { name: second, steps: 4 }\n");
    assert.deepEqual(
      lists(load(text)).map(({ severity }) => severity),
      ["info"],
    );
  });
  it("is not reported of a map, of a list with the method, or of a stage that does not roll out", () => {
    for (const list of [
      "    tasks: { sums: { env: countdown } }\n",
      "    tasks: [countdown, { name: generated, generate: { selector: failures, transform: simplify, author: program } }]\n",
      "    kind: sft\n    tasks: [countdown]\n",
    ])
      assert.deepEqual(lists(load(stage(list))), [], list);
  });
});

describe("a list over a preset's tasks", () => {
  it("the presets that make tasks are found", () => assert.ok(making.length >= 8, making.join(" ")));
  for (const preset of making)
    for (const [style, { tasks, names }] of Object.entries(styles))
      it(`${preset}, ${style}: the fix keeps the method, and the tasks as they were written`, () => {
        const made = [...named(load(`extends: ${preset}\n`), "tasks")].filter(
          ([, task]) => isObject(task) && task["generate"] !== undefined,
        );
        const text = `extends: ${preset}\n${tasks}seed: 1\n`;
        const before = load(text);
        const after = mended(text);
        assert.deepEqual(
          errors(after).filter((one) => !errors(before).includes(one)),
          [],
        );
        const found = named(after, "tasks");
        assert.deepEqual([...found.keys()].sort(), [...made.map(([name]) => name), ...names].sort());
        for (const [name, task] of made) assert.deepEqual(found.get(name), task);
        for (const name of names) assert.deepEqual(found.get(name), named(before, "tasks").get(name));
      });

  it("a task of the same name that is made in the user's own way is no loss", () =>
    assert.deepEqual(
      lists(
        load(
          "extends: critique-coder\ntasks:\n  - countdown\n  - { name: critique, generate: { selector: success_band, transform: critique } }\n",
        ),
      ),
      [],
    ));

  it("of two presets the second's list is reported, and not where the file writes the tasks itself", () => {
    const [finding] = lists(load("extends: [critique-coder, eva]\n"));
    assert.match(finding?.message ?? "", /`critique` is lost/);
    assert.equal(finding?.range.start.character, "extends: [critique-coder, ".length);
    assert.deepEqual(lists(load("extends: [critique-coder, dapo]\n")), []);
  });
});

describe("a list over a preset's stages", () => {
  for (const style of [
    "stages:\n  - { name: short, steps: 5 }\n  - name: coarse\n    steps: 7\n",
    "stages: [{ name: short, steps: 5 }, { name: coarse, steps: 7 }]\n",
  ])
    it(`keeps the others: ${style.slice(0, 12).trim()}`, () => {
      const all = named(load("extends: mistral-c2f\n"), "stages");
      const found = named(mended(`extends: mistral-c2f\n${style}`), "stages");
      assert.deepEqual([...found.keys()], [...all.keys()]);
      for (const [name, steps] of [
        ["short", 5],
        ["coarse", 7],
      ] as const) {
        const [stage, before] = [found.get(name), all.get(name)];
        assert.ok(isObject(stage) && isObject(before));
        assert.deepEqual(stage, { ...before, steps });
      }
    });

  it("names of stages that the preset does not have get no fix that would not be read", () => {
    const [finding] = lists(load("extends: mistral-c2f\nstages: [{ name: main, steps: 5 }]\n"));
    assert.equal(finding?.severity, "warning");
    assert.deepEqual(finding.fixes, []);
  });

  it("an empty list is meant", () => assert.deepEqual(lists(load("extends: mistral-c2f\nstages: []\n")), []));
});

describe("a list over one without names", () => {
  for (const [text, lost] of [
    ["extends: forking-tokens\nmask: [written]\n", "top_entropy"],
    ["extends: supo\nmask:\n  - use: written\n", "overlong"],
    ["extends: relift\nauxiliary:\n  - { use: sft, data: examples }\n  - { use: entropy }\n", undefined],
    ["extends: forking-tokens\nmask: []\n", undefined],
    ["extends: grpo-paper\nkl: [{ model: reference, coefficient: 0.5 }]\n", undefined],
  ] as const)
    it(`${JSON.stringify(text)}: ${lost ?? "nothing"} is lost`, () => {
      const [finding] = lists(load(text));
      if (lost === undefined) return assert.equal(finding, undefined);
      assert.equal(finding?.severity, "info");
      assert.ok(finding.message.includes(`\`${lost}\` is lost`), finding.message);
      const { mask } = mended(text).tree;
      assert.ok(JSON.stringify(mask).includes(lost));
    });
});
