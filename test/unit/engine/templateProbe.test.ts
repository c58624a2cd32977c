/** What chat templates do to earlier turns: those of the fixtures, and one that drops thoughts. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { checkModel, isModel } from "../../../server/cli/doctor/models.ts";
import { hoverAt } from "../../../server/language/hovers/hover.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { readHeader } from "../../../server/engine/formats/gguf/header.ts";
import { readGgufHead } from "../../../server/engine/formats/gguf/index.ts";
import { tokenizerOf } from "../../../server/engine/formats/gguf/tokenizer.ts";
import { writeHuggingFace } from "../../../server/engine/formats/index.ts";
import { initialWeights } from "../../support/initialWeights.ts";
import { ChatTemplate } from "../../../server/engine/tokenizers/chatTemplate.ts";
import { probeTemplate, templateText } from "../../../server/engine/tokenizers/templateProbe.ts";
import type { ChatLook } from "../../../server/core/config/modelFacts.ts";

const { chats } = z
  .object({ chats: z.array(z.object({ name: z.string(), template: z.string() })) })
  .parse(JSON.parse(readFileSync("test/fixtures/tokenizers/tokenizers.json", "utf8")));

function probed(source: string): ChatLook {
  const template = new ChatTemplate(source, { bos_token: "<s>", eos_token: "</s>" }, "test");
  return probeTemplate({ chat: (messages, options) => template.render(messages, options) })!;
}
const fixture = (name: string): ChatLook => probed(chats.find((one) => one.name === name)!.template);

test("templates of the fixtures keep earlier turns", () => {
  for (const name of ["smollm", "qwen", "llama3"]) {
    const { plain, thinking } = fixture(name);
    assert.deepEqual([plain.user, thinking.user], [{ kind: "kept" }, { kind: "kept" }], name);
  }
  assert.match(templateText(fixture("smollm"))[0]!, /prefix-preserving/);
  // It puts white space before what was said, and none after its header of the turn that is next.
  assert.deepEqual(fixture("gemma").plain.user, { kind: "dropped", text: "ANSWER" });
});

test("what takes no turn of a tool says so: gemma by an error, qwen by silence", () => {
  const gemma = fixture("gemma").plain.tool;
  const qwen = fixture("qwen").plain.tool;
  assert.match(gemma.kind === "refused" ? gemma.problem : "", /alternate/);
  assert.match(qwen.kind === "refused" ? qwen.problem : "", /leaves out messages of the role tool/);
  assert.deepEqual(fixture("smollm").plain.tool, { kind: "kept" });
  assert.equal(fixture("smollm").tools, false);
});

/** Like Qwen3's: the thoughts of turns before the user's last message are left out. */
const forgetful = `
{%- if tools %}{{- '<|im_start|>system\\n' }}{% for tool in tools %}{{- tool | tojson }}{% endfor %}{{- '<|im_end|>\\n' }}{% endif %}
{%- set ns = namespace(last=0) %}
{%- for message in messages %}{% if message.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}
{%- set content = message.content %}
{%- if message.role == 'assistant' and loop.index0 < ns.last and '</think>' in content %}
{%- set content = content.split('</think>')[-1].lstrip('\\n') %}
{%- endif %}
{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}`;

test("a template that drops thoughts shows which, after whom", () => {
  const found = probed(forgetful);
  assert.deepEqual(found.plain, { user: { kind: "kept" }, tool: { kind: "kept" } });
  assert.deepEqual(found.thinking, {
    user: { kind: "dropped", text: "<think>\nTHOUGHT\n</think>\n\n" },
    tool: { kind: "kept" },
  });
  assert.equal(found.tools, true);
  const [first] = templateText(found);
  assert.match(first!, /reply of the user, the chat template drops or changes `<think>⏎THOUGHT⏎<\/think>⏎⏎`/);
});

test("a template that writes turns otherwise changes all that follows", () => {
  const found = probed(
    "{% for m in messages %}{{ loop.length }}{{ m.role }}:{{ m.content }}|{% endfor %}assistant:",
  );
  assert.equal(found.plain.user.kind, "dropped");
  assert.match(templateText(found)[0]!, /of the turn before\./);
});

test("without a template there is nothing to probe", () => {
  assert.equal(probeTemplate({}), undefined);
  assert.equal(probeTemplate({ chat: () => undefined }), undefined);
});

test("gradus doctor MODEL and the editor's hovers say what the next turn drops", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-template-"));
  try {
    const tokenizer = tokenizerOf(readHeader("test/fixtures/tokenizers/smollm.gguf"));
    const { shape } = readGgufHead("test/fixtures/gguf/llama.gguf");
    const sized = { ...shape, vocabulary: tokenizer.size };
    const model = join(folder, "model");
    writeHuggingFace(model, { shape: sized, weights: initialWeights(sized, 1), tokenizer });
    writeFileSync(join(model, "chat_template.jinja"), forgetful);
    assert.ok(isModel(model) && !isModel(join(folder, "own.gradus.yaml")));
    const [first, second] = checkModel(model);
    assert.match(first!.detail, /a context of \d+ tokens/);
    assert.match(second!.detail, /drops or changes `<think>⏎THOUGHT/);
    const file = join(folder, "own.gradus.yaml");
    const text =
      "model: { base: ./model }\ntasks: [{ env: guess_number }]\nreward: { terms: { played: environment } }\nrollout: { shape: environment }\n";
    writeFileSync(file, text);
    const loaded = loadConfig(file, { text });
    for (const at of ["./model", "shape: environment"]) {
      const before = text.slice(0, text.indexOf(at) + 1).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)!.length };
      const hover = hoverAt({ root: loaded.source!, position, file, loaded });
      assert.match(JSON.stringify(hover), /chat template drops or changes `<think>/, at);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
