import { createInterface } from "node:readline/promises";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { colours } from "./text/colours.ts";
import { z } from "zod";
import { UserError } from "../../shared/lib/errors.ts";
import type { TrainablePolicy } from "../engine/index.ts";
import type { ChatMessage } from "../engine/tokenizers/index.ts";
import { openCheckpoint } from "../run/checkpoint/checkpoints.ts";
import { checkpointWords, findCheckpoint } from "./runs/checkpointNames.ts";
import { exit, printExactly, printJson, type Command } from "./command.ts";
import { answers, chatTokens, plainTokens, type ConversationAnswer } from "./text/conversation.ts";
import { steered } from "./text/steering.ts";
import { repeated, whole } from "./options.ts";
import type { DecodeOptions } from "../core/policy.ts";

const optionsSchema = z
  .object({
    prompt: z.array(z.string()),
    system: z.string().optional(),
    raw: z.boolean().default(false),
    count: z.coerce.number().int().min(1).max(4096),
    temperature: z.coerce.number().min(0),
    maxTokens: z.coerce.number().int().min(1),
    seed: z.coerce.number().int(),
    json: z.boolean().default(false),
    trained: z.string().optional(),
    base: z.string().optional(),
    lambda: z.coerce.number(),
  })
  .refine(({ trained, base }) => (trained === undefined) === (base === undefined), {
    path: ["base"],
    message: "--trained and --base belong together: a small model after and before its training",
  });
type Options = z.output<typeof optionsSchema> & { readonly shift?: DecodeOptions["logits_shift"] };

const NEW = "/new";

/** One model and one person: in a chat, what was said before goes before the next prompt. */
class Talk {
  private readonly chats: boolean;
  private said: ChatMessage[];
  private turn = 0;
  /** A raw continuation in a pipe is another program's input. */
  private readonly visible: (text: string) => string;

  constructor(
    private readonly policy: TrainablePolicy,
    private readonly options: Options,
  ) {
    this.chats = policy.tokenizer.hasChat && !options.raw;
    if (!this.chats && options.system !== undefined)
      throw new UserError(
        options.raw
          ? "--raw prompts have no system message."
          : "This model has no chat template for --system.",
        { code: "usage", action: "Leave --system out and put its text into the prompt." },
      );
    this.visible = options.raw && !process.stdout.isTTY ? (text) => text : visibleText;
    this.said = this.opening();
  }
  private opening(): ChatMessage[] {
    const { system } = this.options;
    return system === undefined ? [] : [{ role: "system", content: system }];
  }
  forget(): void {
    this.said = this.opening();
  }

  /** Asks and prints; the conversation continues with the first answer. */
  async ask(prompt: string): Promise<void> {
    const { policy, options, chats } = this;
    const messages = [...this.said, { role: "user", content: prompt }];
    const tokens = chats ? chatTokens(policy.tokenizer, messages) : plainTokens(policy.tokenizer, prompt);
    const streams = !options.json && options.count === 1;
    if (streams && !chats) process.stdout.write(colours.dim(this.visible(prompt)));
    const given = await answers(
      policy,
      tokens,
      this.turn++,
      options,
      streams ? (piece) => void process.stdout.write(this.visible(piece)) : undefined,
    );
    this.said = [...messages, { role: "assistant", content: given[0]?.response ?? "" }];
    if (options.json)
      printJson({
        prompt,
        ...(options.system === undefined ? {} : { system: options.system }),
        chat: chats,
        responses: given,
      });
    else if (streams) printExactly(cutOff(given[0]));
    else
      for (const answer of given)
        printExactly(
          `${chats ? "" : colours.dim(this.visible(prompt))}${this.visible(answer.response)}${cutOff(answer)}`,
        );
  }
}
const cutOff = (answer: ConversationAnswer | undefined): string =>
  answer?.finish === "length" ? colours.dim(" …") : "";

/** A prompt a line, until the input ends. */
async function converse(talk: Talk): Promise<void> {
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    prompt: "> ",
    terminal: process.stdin.isTTY,
  });
  lines.prompt();
  for await (const line of lines) {
    if (line === NEW) talk.forget();
    else if (line !== "") await talk.ask(line);
    lines.prompt();
  }
}

function parsed(given: unknown): Options {
  const { success, data, error } = optionsSchema.safeParse(given);
  if (success) return data;
  const [issue] = error.issues;
  process.exitCode = exit.usage;
  const name = String(issue?.path[0] ?? "option").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UserError(`--${name}: ${issue?.message ?? "not valid"}`, {
    code: "usage",
    action: "gradus sample --help lists the options.",
  });
}

export const command: Command = {
  name: "sample",
  configure: (program) => {
    program
      .argument("<checkpoint>", checkpointWords)
      .option("--prompt <text>", "answer this prompt and exit; may be repeated", repeated, [])
      .option("--system <text>", "the system message, for a model with a chat template")
      .option("--raw", "treat prompts as plain text that the model continues, without its chat template")
      .option("-n, --count <n>", "number of answers to each prompt", whole(1), 1)
      .option("--temperature <t>", "sampling temperature; 0 is greedy", "1")
      .option("--max-tokens <n>", "longest answer, in tokens", whole(1), 256)
      .option("--seed <n>", "seed of the sampling", whole(), 1)
      .option(
        "--trained <checkpoint>",
        "answer as training changed a smaller model: that model after it; needs --base",
      )
      .option("--base <checkpoint>", "that model before its training")
      .option("--lambda <n>", "factor on the difference of the two models' logits", "1")
      .option("--json", "one JSON object per prompt")
      .addHelpText(
        "after",
        `\nWithout --prompt it reads one prompt per line and remembers the conversation; ${NEW} starts a new one.`,
      )
      .action(async (checkpoint: string, given: unknown) => {
        const options = parsed(given);
        const policy = await openCheckpoint(findCheckpoint(checkpoint), options.seed, {
          answers: options.count,
          max_tokens: options.maxTokens,
        });
        let release = (): void => undefined;
        try {
          const { shift, close } = await steered(policy, options, options);
          release = close;
          const talk = new Talk(policy, { ...options, ...(shift && { shift }) });
          for (const prompt of options.prompt) {
            await talk.ask(prompt);
            talk.forget();
          }
          if (options.prompt.length === 0) await converse(talk);
        } finally {
          release();
          policy.close();
        }
      });
  },
};
