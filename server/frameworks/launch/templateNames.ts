/** Which template a trainer's name for one stands for: Unsloth's `get_chat_template`, LLaMA-Factory, ms-swift. */
import * as families from "./chatTemplates.ts";
import type { ChatTemplate, TemplateTrainer } from "./chatTemplates.ts";

const marked = (
  user: string,
  assistant: string,
  endOfTurn: readonly string[],
  names: NonNullable<ChatTemplate["names"]>,
): ChatTemplate => ({ user, assistant, endOfTurn, names });

/** Templates that are no family's in the table. Markers leave out spaces at their ends, which tokenizers fold away. */
const others: readonly ChatTemplate[] = [
  marked("<|im_start|>user\n", "<|im_start|>assistant\n", ["<|im_end|>"], {
    unsloth: ["chatml", "yi-chat", "lfm-2", "lfm-2.5"],
    swift: ["chatml"],
  }),
  marked("<|user|>\n", "<|assistant|>\n", ["</s>"], { unsloth: ["zephyr"], swift: ["zephyr"] }),
  marked(">>> User:", ">>> Assistant:", [], { unsloth: ["unsloth"] }),
  marked("USER:", "ASSISTANT:", [], { unsloth: ["vicuna"] }),
  marked("### Instruction:\n", "### Response:\n", [], { unsloth: ["alpaca"] }),
  marked("<start_of_turn>user\n", "<start_of_turn>model\n", ["<end_of_turn>"], {
    unsloth: ["gemma-3n", "gemma3n"],
    llamafactory: ["gemma3n"],
  }),
  marked("<|turn>user\n", "<|turn>model\n", ["<turn|>"], {
    unsloth: ["gemma-4", "gemma4", "gemma-4-thinking", "gemma4-thinking"],
  }),
  marked("GPT4 Correct User:", "GPT4 Correct Assistant:", ["<|end_of_turn|>"], { unsloth: ["starling"] }),
];

/** Every template that has a name: of the families, then the others. */
export const namedTemplates: readonly ChatTemplate[] = [...Object.values(families), ...others].filter(
  ({ names }) => names !== undefined,
);

const index = new Map(
  namedTemplates.flatMap((template) =>
    Object.entries(template.names ?? {}).flatMap(([trainer, names]) =>
      names.map((name) => [`${trainer} ${name}`, template] as const),
    ),
  ),
);

/** The template that a trainer calls by this name. Names are compared letter by letter, as the trainers do. */
export function templateNamed(trainer: TemplateTrainer, name: string): ChatTemplate | undefined {
  return index.get(`${trainer} ${name}`);
}
