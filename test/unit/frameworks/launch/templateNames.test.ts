/** Which markers of turns a trainer's name for a chat template stands for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namedTemplates, templateNamed } from "../../../../server/frameworks/launch/templateNames.ts";

describe("names of chat templates", () => {
  it("stand for the markers of their families", () => {
    const markers = (...asked: Parameters<typeof templateNamed>) => templateNamed(...asked)?.assistant;
    assert.equal(markers("unsloth", "llama-3.1"), "<|start_header_id|>assistant<|end_header_id|>\n\n");
    assert.equal(markers("unsloth", "qwen-2.5"), "<|im_start|>assistant\n");
    assert.equal(markers("unsloth", "gemma-3"), "<start_of_turn>model\n");
    assert.equal(markers("unsloth", "phi-4"), "<|im_start|>assistant<|im_sep|>");
    assert.equal(markers("unsloth", "alpaca"), "### Response:\n");
    assert.equal(markers("llamafactory", "qwen3_nothink"), "<|im_start|>assistant\n");
    assert.equal(markers("swift", "qwen3_thinking"), "<|im_start|>assistant\n");
    assert.equal(templateNamed("unsloth", "qwen3-thinking")?.think, "prefilled");
    assert.equal(markers("unsloth", "Llama-3.1"), undefined);
    assert.equal(markers("swift", "llama-3.1"), undefined);
  });

  it("leave a thought's tag out of markers", () => {
    for (const { assistant } of namedTemplates) assert.ok(!assistant.includes("<think>"));
  });

  it("are each one template's", () => {
    const names = namedTemplates.flatMap(({ names: by = {} }) =>
      Object.entries(by).flatMap(([trainer, own]) => own.map((name) => `${trainer} ${name}`)),
    );
    assert.equal(new Set(names).size, names.length);
  });
});
