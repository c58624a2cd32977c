import assert from "node:assert/strict";
import { test } from "node:test";
import { listPapers } from "../../../server/config/papers.ts";
import { z } from "zod";
import { gradus } from "../../support/cli.ts";
import { assertFrozen, valueLines } from "../../support/frozen.ts";

const schema = z.array(
  z.strictObject({
    title: z.string(),
    arxiv: z.string().optional(),
    presets: z.array(z.string()),
    commands: z.array(z.string()),
    status: z.enum(["exact", "approximate", "piece", "none"]),
    follows: z.string().optional(),
    list: z.literal("later").optional(),
  }),
);
const ask = async (...words: string[]): Promise<z.output<typeof schema>> =>
  schema.parse(JSON.parse((await gradus(["papers", ...words, "--json"])).stdout));

test("gradus papers --json has every title once", async () => {
  const papers = await ask();
  assert.equal(new Set(papers.map(({ title }) => title)).size, papers.length);
  assert.ok(papers.length >= 298, `${papers.length} titles`);
  assertFrozen("json/papers", valueLines(papers, ""));
});

test("papers added later are counted apart from the list, which they leave as it was", async () => {
  const papers = await ask();
  const later = papers.filter(({ list }) => list === "later");
  assert.equal(papers.length - later.length, 336);
  assert.ok(later.some(({ title }) => title === "Prioritized Level Replay"));
  const lines = (await gradus(["papers"])).stdout.split("\n");
  const heading = lines.indexOf(`Papers added later: ${later.length}`);
  assert.equal(lines[0], "Papers of the list: 336");
  assert.equal(lines.slice(1, heading).filter((line) => line !== "").length, 336);
  assert.ok(lines.slice(heading).some((line) => line.includes("Prioritized Level Replay")));
});

test("words of a title find a paper, in any order and case", async () => {
  const [paper, ...others] = await ask("CURRICULUM", "self-evolving", "reasoning", "llm");
  assert.deepEqual(others, []);
  assert.equal(paper?.title, "Self-Evolving Curriculum for LLM Reasoning");
  assert.deepEqual(paper.presets, ["sec", "sec-released"]);
  assert.deepEqual(paper.commands, ["gradus init --from sec", "gradus init --from sec-released"]);
  assert.equal(paper.status, "exact");
});

test("an arXiv id finds its paper, as an address and with a version too", async () => {
  for (const text of ["2505.14970", "arXiv:2505.14970v2", "https://arxiv.org/abs/2505.14970"])
    assert.deepEqual(
      (await ask(text)).map(({ title }) => title),
      ["Self-Evolving Curriculum for LLM Reasoning"],
      text,
    );
});

test("a paper without a preset says what serves it, and one without anything says so", async () => {
  const { stdout } = await gradus(["papers", "endless", "terminals"]);
  assert.match(stdout, /status: piece/);
  assert.match(stdout, /gradus methods task_gate/);
  // Which these are changes as methods come.
  const without = listPapers().find(({ status }) => status === "none")!;
  const { stdout: none } = await gradus(["papers", without.title]);
  assert.match(none, /Gradus has nothing of it\./);
  assert.ok(none.includes(without.follows!), "and why");
});

test("a text that no title has is a failure with what to do", async () => {
  const { code, stdout, stderr } = await gradus(["papers", "no", "such", "paper"]);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /No title has the words "no such paper"\. "gradus papers" lists them all\./);
  assert.deepEqual(await ask("no", "such", "paper"), []);
});
