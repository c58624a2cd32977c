import { createInterface } from "node:readline/promises";
import colours from "picocolors";
import { z } from "zod";
import { UserError } from "../../shared/errors.ts";
import type { TrainablePolicy } from "../policy/index.ts";
import { openCheckpoint } from "../run/checkpoints.ts";
import { checkpointWords, findCheckpoint } from "./checkpointNames.ts";
import type { Sample } from "../seams.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { whole } from "./options.ts";

const collected = (value: string, known: readonly string[]): string[] => [...known, value];

const optionsSchema = z.object({
  prompt: z.array(z.string()),
  count: z.coerce.number().int().min(1).max(4096),
  temperature: z.coerce.number().min(0),
  maxTokens: z.coerce.number().int().min(1),
  seed: z.coerce.number().int(),
  json: z.boolean().optional(),
});
type Options = z.output<typeof optionsSchema>;

/** `count` answers to a prompt, in order. Turn `n` of a conversation draws from streams of its own. */
async function answer(
  policy: TrainablePolicy,
  prompt: string,
  turn: number,
  options: Options,
): Promise<Sample[]> {
  const tokens = policy.tokenizer.encode(prompt);
  if (tokens.length >= policy.context)
    throw new UserError(
      `The prompt has ${tokens.length} tokens, and the model's context is ${policy.context}.`,
      { code: "prompt-too-long", action: "Shorten it." },
    );
  const prompts = Array.from({ length: options.count }, (_, index) => ({
    tokens,
    key: ["sample", turn, index],
  }));
  const samples: Sample[] = [];
  const room = policy.context - tokens.length;
  for await (const sample of policy.generate(prompts, {
    max_tokens: Math.min(options.maxTokens, room),
    temperature: options.temperature,
    seed: options.seed,
  }))
    samples.push(sample);
  return samples.sort((a, b) => a.index - b.index);
}

function textOf(policy: TrainablePolicy, { tokens }: Sample): string {
  return policy.tokenizer.decode(tokens.at(-1) === policy.tokenizer.eos ? tokens.subarray(0, -1) : tokens);
}

async function tell(policy: TrainablePolicy, prompt: string, turn: number, options: Options): Promise<void> {
  const samples = await answer(policy, prompt, turn, options);
  if (options.json !== true)
    for (const sample of samples)
      print(
        `${colours.dim(prompt)}${textOf(policy, sample)}${sample.finish === "length" ? colours.dim(" …") : ""}`,
      );
  else {
    const responses = samples.map((sample) => ({
      response: textOf(policy, sample),
      finish: sample.finish,
      tokens: sample.tokens.length,
      logp: sample.logp_old.reduce((sum, value) => sum + value, 0),
    }));
    printJson({ prompt, responses });
  }
}

/** A prompt a line, until the input ends. */
async function converse(policy: TrainablePolicy, options: Options): Promise<void> {
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    prompt: "> ",
    terminal: process.stdin.isTTY,
  });
  let turn = 0;
  lines.prompt();
  for await (const line of lines) {
    if (line !== "") await tell(policy, line, turn++, options);
    lines.prompt();
  }
}

export const command: Command = {
  name: "sample",
  configure: (program) => {
    program
      .argument("<checkpoint>", checkpointWords)
      .option("--prompt <text>", "answer this and end; may be given more than once", collected, [])
      .option("-n, --count <n>", "answers to each prompt", whole(1), 1)
      .option("--temperature <t>", "0 is greedy", "1")
      .option("--max-tokens <n>", "longest answer", whole(1), 64)
      .option("--seed <n>", "of the draws", whole(), 1)
      .option("--json", "one JSON object a prompt")
      .action(async (checkpoint: string, given: unknown) => {
        const parsed = optionsSchema.safeParse(given);
        if (!parsed.success) {
          const [issue] = parsed.error.issues;
          process.exitCode = exit.usage;
          throw new UserError(
            `--${String(issue?.path[0] ?? "option").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${issue?.message ?? "not understood"}`,
            { code: "usage", action: "gradus sample --help lists the options." },
          );
        }
        const options = parsed.data;
        const path = findCheckpoint(checkpoint);
        const policy = await openCheckpoint(path, options.seed);
        try {
          for (const [turn, prompt] of options.prompt.entries()) await tell(policy, prompt, turn, options);
          if (options.prompt.length === 0) await converse(policy, options);
        } finally {
          policy.close();
        }
      });
  },
};
