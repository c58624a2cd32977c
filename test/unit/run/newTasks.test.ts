/** Making tasks while the real policy trains: they are drawn, kept in checkpoints, and what fails is reported. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chatServer } from "../../support/chatServer.ts";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { inLong, some } from "../../support/thorough.ts";

const set = (generate: string, ...more: readonly string[]): string[] => [
  `tasks=[{ env: reverse_text, lengths: [3] }, { name: new, generate: { every: 2, parents: 4, tries: 2, ${generate} } }]`,
  "curriculum.sampler=proportional",
  "stages=[{ name: warm-up, kind: sft, steps: 20, batch: 16, update: { optimizer: { lr: 5.0e-3 } } }, { name: practice, steps: 6 }]",
  "evaluation={ every: 100, prompts: 1, pass_at: [1], samples: 1 }",
  "checkpoint={ every: 100 }",
  ...more,
];
/** For what is resumed at some step. */
const everyStep = "checkpoint={ every: 1, keep: 40 }";
const events = (run: TestRun, name: string, attempt = 0): string[] =>
  ofKind(run.records(attempt), "event").flatMap((event) => (event.name === name ? [event.message] : []));

for (const arms of some(["difficulty", "{ use: prompt, pool: 8 }"], 1))
  test(`new tasks reach training, with arms by ${arms}; a run resumed between goes on exactly`, async () => {
    const run = testRun(
      set("gates: [builds]", `curriculum.arms=${arms}`, "curriculum.sampler=uniform", everyStep),
    );
    try {
      assert.equal(await run.work(), 0, run.ending());
      const told = events(run, "tasks-made");
      assert.equal(told.length, 2);
      assert.match(told[0]!, /^new: \d of 4 new tasks were accepted\./);
      const whole = run.records();
      const born = ofKind(whole, "rollout").filter(({ row }) => row.task?.arm?.startsWith("new") === true);
      assert.ok(born.length > 0, "some are drawn");
      for (const { row } of born) {
        const lineage = row.task?.data?.["lineage"];
        assert.ok(typeof lineage === "object" && lineage !== null && "parents" in lineage);
        assert.equal(String(row.task?.data?.["text"]).length, 2, "one letter less than its parent");
      }
      const made = ofKind(whole, "task");
      const taken = told.reduce((sum, text) => sum + Number(/^new: (\d)/.exec(text)?.[1]), 0);
      assert.equal(made.length, taken, "a record each, drawn or not");
      for (const { source, author, generation, parents, step } of made) {
        assert.deepEqual(
          { source, author, generation, parentsLength: parents.length },
          { source: "new", author: "program", generation: 1, parentsLength: 1 },
        );
        assert.ok(step === 22 || step === 24, String(step));
      }
      const families = new Set(ofKind(whole, "group").map(({ family }) => family));
      const expected = arms === "difficulty" ? [undefined] : ["new/2", "reverse_text/3"];
      assert.deepEqual([...families].sort(), expected);
      for (const step of [25, 24, 23])
        rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 23), essence(whole, 23));
    } finally {
      run.remove();
    }
  });

inLong(
  "child tasks that no arm has are reported and counted; with arms that have them there are none",
  async () => {
    // Arms by a field are those of the tasks that were there at first.
    const runs = ["{ use: fields, fields: [text] }", "difficulty"].map((arms) =>
      testRun(set("gates: [builds]", `curriculum.arms=${arms}`, "curriculum.sampler=uniform")),
    );
    try {
      const counts = [];
      for (const run of runs) {
        assert.equal(await run.work(), 0, run.ending());
        const last = ofKind(run.records(), "metrics").at(-1)!.values;
        counts.push(Number(last["generated/new/armless"]));
      }
      const [apart, within] = runs as [TestRun, TestRun];
      const made = ofKind(apart.records(), "task").length;
      assert.ok(made > 0);
      assert.deepEqual(counts, [made, 0]);
      assert.match(
        events(apart, "tasks-without-arm")[0]!,
        /^new: (\d) of \1 new tasks belong to no arm, so they are never drawn: there is no new\//,
      );
      assert.deepEqual(events(within, "tasks-without-arm"), []);
    } finally {
      for (const run of runs) run.remove();
    }
  },
);

test("an author that does not answer, and one that writes what cannot be read, are reported and the run goes on", async () => {
  const endpoint = "author: { use: endpoint, url: 'http://127.0.0.1:9/v1', model: m }";
  const policy = "author: { use: policy, max_tokens: 4 }, transform: { use: diversify, request: '{prompt}' }";
  const [away, odd] = [testRun(set(endpoint)), testRun(set(policy))];
  try {
    assert.equal(await away.work(), 0, away.ending());
    assert.match(
      events(away, "tasks-not-made")[0]!,
      /^No new tasks were made for new: The author of tasks at http/,
    );
    assert.equal(await odd.work(), 0, odd.ending());
    const warned = ofKind(odd.records(), "event").filter(({ name }) => name === "tasks-made");
    assert.match(warned[0]!.message, /Rejected: .*its environment cannot parse it/);
    assert.equal(warned.at(-1)!.severity, "warning");
  } finally {
    away.remove();
    odd.remove();
  }
});

test("a request that fills its model's context is reported with who is asked, and what to shorten or to set", async () => {
  const small = "width: 16, layers: 1, heads: 2, hidden: 32, context: 32";
  const long = "x".repeat(400);
  const make = (name: string, rest: string): string =>
    `{ name: ${name}, generate: { every: 2, parents: 2, tries: 2, ${rest} } }`;
  const asks = `transform: { use: diversify, request: '${long}{prompt}' }`;
  const judge = `gates: [{ use: judges, request: '${long}{prompt}', yes: y, max_tokens: 2 }]`;
  const run = testRun(
    set("gates: [builds]", `models={ teacher: { base: tiny, ${small} } }`).map((text) =>
      text.startsWith("tasks=")
        ? `tasks=[{ env: reverse_text, lengths: [3] }, ${[
            make("own", `${asks}, author: policy`),
            make("other", `${asks}, author: { use: model, model: teacher }`),
            make("judged", judge),
          ].join(", ")}]`
        : text,
    ),
  );
  try {
    assert.equal(await run.work(), 0, run.ending());
    const told = ofKind(run.records(), "event").filter(({ name }) => name === "tasks-not-made");
    const of = (name: string): string => {
      const found = told.find(({ message }) => message.startsWith(`No new tasks were made for ${name}: `));
      return `${found?.message ?? "none"} ${found?.action ?? ""}`;
    };
    assert.match(
      of("own"),
      /what the policy reads to write a task has \d+ tokens, which leaves no room in its context of \d+: "x+"… Shorten tasks\.own\.generate\.transform\.request, raise model\.context/,
    );
    assert.match(of("other"), /what the model teacher reads to write .* raise models\.teacher\.context/);
    assert.match(
      of("judged"),
      /what the policy reads to judge .* Shorten the `request` in tasks\.judged\.generate\.gates/,
    );
    assert.equal(ofKind(run.records(), "metrics").at(-1)?.step, 25, "to its end");
  } finally {
    run.remove();
  }
});

inLong(
  "critiques of the policy's own responses are made, drawn and scored; solutions are scored, the policy judges",
  async () => {
    const generate = (rest: string): string => `generate: { every: 2, parents: 4, tries: 2, ${rest} }`;
    const all = "selector: { use: success_band, low: 0, high: 1 }";
    const judge = "{ use: judges, request: '{prompt}', yes: '.*', max_tokens: 2 }";
    const run = testRun([
      `tasks=[{ env: reverse_text, lengths: [3] }, { name: critic, ${generate(`${all}, transform: { use: critique, request: '{prompt}|{response}?' }, gates: []`)} }, { name: told, ${generate(`${all}, transform: { use: feedback, request: '{prompt}' }, gates: [gold_passes, ${judge}]`)} }, { name: copied, ${generate(`transform: { use: diversify, request: '{prompt}' }, author: { use: model, model: reference, max_tokens: 4 }`)} }]`,
      "reward.terms={ same: { use: exact_match, tasks: [reverse_text, told, copied] }, verdict: { use: verdict, tasks: [critic], pattern: '(T|F)' } }",
      "stages=[{ name: warm-up, kind: sft, tasks: [{ env: reverse_text, lengths: [3] }], reward: { terms: { verdict: null } }, steps: 20, batch: 16, update: { optimizer: { lr: 5.0e-3 } } }, { name: practice, steps: 6, curriculum: { arms: task } }]",
      "evaluation={ every: 100, prompts: 1, pass_at: [1], samples: 1 }",
      everyStep,
    ]);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const records = run.records();
      const made = ofKind(records, "task");
      const critiques = made.filter(({ source }) => source === "critic");
      assert.ok(critiques.length > 0, events(run, "tasks-made").join("\n"));
      for (const { transform, prompt, answer } of critiques) {
        assert.equal(transform, "critique");
        assert.match(prompt, /\|.*\?$/s);
        assert.ok(answer === "T" || answer === "F");
      }
      const judged = ofKind(records, "rollout").filter(({ row }) => row.task?.arm === "critic");
      assert.ok(judged.length > 0, "critiques are drawn");
      assert.ok(judged.every(({ row }) => row.rewards?.["verdict"] === 0 || row.rewards?.["verdict"] === 1));
      assert.ok(
        made.some(({ source, author }) => source === "told" && author === "program"),
        [...events(run, "tasks-made"), ...events(run, "tasks-not-made")].join("\n"),
      );
      const copied = ofKind(records, "event").filter(({ message }) => message.startsWith("copied:"));
      assert.deepEqual(events(run, "tasks-not-made"), []);
      assert.ok(copied.length > 0 && !events(run, "tasks-not-made").some((text) => text.includes("copied")));
      rmSync(join(run.folder, "checkpoints", "25"), { recursive: true });
      rmSync(join(run.folder, "checkpoints", "24"), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 24), essence(records, 24));
    } finally {
      run.remove();
    }
  },
);

test("duplicates, answers that are none, concepts that no task names: each is reported, and the run goes on", async () => {
  const server = await chatServer((_text, _times, model) => {
    if (model === "again") return "xyw>";
    if (model === "odd") return { raw: "<html>" };
    return model === "other" ? { raw: "{}" } : "";
  });
  const author = (model: string): string =>
    `author: { use: endpoint, url: '${server.url}', model: ${model} }`;
  const make = (name: string, rest: string): string =>
    `{ name: ${name}, generate: { every: 2, parents: 3, tries: 2, gates: [], ${author(name)}, ${rest} } }`;
  const run = testRun(
    set("gates: [builds]").map((text) =>
      text.startsWith("tasks=")
        ? `tasks=[{ env: reverse_text, lengths: [3] }, ${[
            make("again", "transform: diversify"),
            make("odd", "transform: diversify"),
            make("other", "transform: diversify"),
            make("silent", "transform: concepts"),
          ].join(", ")}]`
        : text,
    ),
  );
  try {
    assert.equal(await run.work(), 0, run.ending());
    const told = ofKind(run.records(), "event");
    const of = (name: string): (typeof told)[number][] =>
      told.filter(({ message }) => message.includes(`${name}:`) && message.includes("task"));
    assert.match(
      of("again")[0]!.message,
      /^again: 1 of 3 new tasks were accepted. Rejected: 2× the task exists already/,
    );
    assert.match(of("again")[1]!.message, /^again: 0 of 3 .*3× the task exists already/);
    assert.match(
      of("odd")[0]!.message,
      /^No new tasks were made for odd: The author of tasks at .* did not answer: /,
    );
    assert.match(of("other")[0]!.message, /the response is not a chat completion/);
    assert.match(
      of("silent")[0]!.message,
      /^silent: no new task was asked for: \d+× its parent's concepts are unknown/,
    );
    for (const { severity, action } of ["odd", "other", "silent"].map((name) => of(name)[0]!)) {
      assert.equal(severity, "warning");
      assert.ok(action !== undefined && action !== "");
    }
    assert.equal(ofKind(run.records(), "metrics").at(-1)?.step, 25, "to its end");
  } finally {
    run.remove();
    await server.close();
  }
});

inLong(
  "a second run begins from the base model with the tasks made of what the first never learned; it resumes between",
  async () => {
    let written = 0;
    const server = await chatServer((text) => {
      if (text.startsWith("Of ")) return `\`${"abcdefghij"[written % 10]}${"klmnopqrst"[written++ % 10]}z>\``;
      return "letters\norder";
    });
    const generate = [
      "selector: { use: never_learned, below: 1, slope: 1 }",
      "transform: { use: concepts, size: 2, request: 'Of {concepts}', take: '`(.+)`', similarity: { by: embedding, model: reference } }",
      `author: { use: endpoint, url: '${server.url}', model: m }`,
      "gates: [builds], parents: 1, first: 3, rounds: 1",
    ].join(", ");
    const run = testRun([
      `tasks=[{ env: reverse_text, lengths: [3] }, { name: weakness, generate: { ${generate} } }]`,
      "curriculum.arms={ use: prompt, pool: 4 }",
      "stages=[{ name: warm-up, kind: sft, steps: 20, batch: 16, update: { optimizer: { lr: 5.0e-3 } } }, { name: initial, steps: 4, update: { optimizer: { lr: 0.01 } } }, { name: augmented, steps: 4, on_enter: { merge: [{ model: reference }], optimizer: reset }, curriculum: { admission: { use: success_band, low: 0, high: 1 } } }]",
      "evaluation={ every: 100, prompts: 1, pass_at: [1], samples: 1 }",
      everyStep,
    ]);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const whole = run.records();
      assert.deepEqual(events(run, "tasks-made"), ["weakness: 1 of 1 new tasks were accepted."]);
      const [made] = ofKind(whole, "task");
      assert.equal(made?.step, 23);
      assert.equal(made.transform, "concepts");
      const of = (step: number) => ofKind(whole, "rollout").filter(({ row }) => row.step === step);
      const drawn = [24, 25, 26, 27]
        .flatMap(of)
        .filter(({ row }) => row.task?.env !== undefined && row.task.arm?.startsWith("weakness") === true);
      assert.ok(drawn.length > 0, "the second stage draws what the first has made");
      const asked = server.asked.length;
      for (const step of [27, 26, 25, 24])
        rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 24), essence(whole, 24));
      assert.equal(server.asked.length, asked, "nobody is asked again");
    } finally {
      run.remove();
      await server.close();
    }
  },
);

test("tasks that join the step are made of its own groups, train in its batch and are drawn by no other", async () => {
  // Each letter moved on, so that who is asked again says the same.
  const moved = (text: string): string =>
    [...text].map((one) => String.fromCharCode(97 + ((one.charCodeAt(0) - 97 + 7) % 26))).join("");
  const server = await chatServer((text) => `${moved(/Problem:\n(\w+)>/.exec(text)?.[1] ?? "")}>`);
  const generate = `joins: step, every: 2, parents: 2, selector: { use: success_band, low: 0, high: 1 }, transform: diversify, gates: [], author: { use: endpoint, url: '${server.url}', model: m }`;
  const run = testRun([
    `tasks=[{ env: reverse_text, lengths: [3] }, { name: now, generate: { ${generate} } }]`,
    "stages=[{ name: warm-up, kind: sft, steps: 20, batch: 16, update: { optimizer: { lr: 5.0e-3 } } }, { name: practice, steps: 5 }]",
    "evaluation={ every: 100, prompts: 1, pass_at: [1], samples: 1 }",
    everyStep,
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const whole = run.records();
    const rollouts = ofKind(whole, "rollout").map(({ row }) => row);
    const prompts = (step: number): Set<string> =>
      new Set(
        rollouts.flatMap(({ step: own, group, use }) => (own === step && use !== "evaluate" ? [group] : [])),
      );
    const made = ofKind(whole, "task");
    assert.ok(made.length >= 3, "in the steps 20, 22 and 24");
    for (const { step, id, parents, source } of made) {
      assert.ok(step % 2 === 0 && source === "now");
      assert.ok(prompts(step).has(id), "in its own step's batch");
      assert.ok(prompts(step).has(parents[0]!), "beside what it was made of");
      for (const other of [20, 21, 22, 23, 24].filter((one) => one !== step))
        assert.ok(!prompts(other).has(id), "and in no other");
    }
    const groups = [20, 21, 22, 23, 24].map((step) => prompts(step).size);
    assert.deepEqual(
      groups,
      [20, 21, 22, 23, 24].map((step) => 4 + made.filter((one) => one.step === step).length),
    );
    const trained = rollouts.filter(
      ({ step, group, admitted }) =>
        admitted !== false && made.some((one) => one.id === group && one.step === step),
    );
    assert.equal(trained.length, 4 * made.length, "none of them is too many");
    for (const step of [24, 23]) rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 23), essence(whole, 23));
  } finally {
    run.remove();
    await server.close();
  }
});
