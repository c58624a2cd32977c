/** How a request asks for tokens to be chosen: OpenAI's parameters, vLLM's further ones, and what this server has not. */
import { z } from "zod";
import type { Request } from "./answers.ts";
import { MOST_BIASES, MOST_CHOICES, MOST_STOP, MOST_STOPS } from "./bounds.ts";
import { Refusal } from "./errors.ts";
import type { Choosing } from "./writer.ts";

const stopText = z.string().max(MOST_STOP);

export const samplingFields = {
  n: z.int().min(1).max(MOST_CHOICES).nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().gt(0).nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  logit_bias: z
    .record(z.string().regex(/^\d+$/), z.number())
    .refine((biases) => Object.keys(biases).length <= MOST_BIASES, `at most ${MOST_BIASES} tokens`)
    .nullish(),
  min_tokens: z.int().min(0).nullish(),
  stop: z.union([stopText.transform((text) => [text]), z.array(stopText).max(MOST_STOPS)]).nullish(),
  seed: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  return_token_ids: z.boolean().nullish(),
} as const;
const fields = z.object(samplingFields);
type Fields = z.output<typeof fields>;

/** What all requests of a feed have in common; what is off is left out, so that as many as can share one. */
function choosingOf(asked: Partial<Fields>): Choosing {
  const {
    top_p,
    top_k,
    min_p,
    repetition_penalty,
    presence_penalty,
    frequency_penalty,
    min_tokens,
    logit_bias,
  } = asked;
  return {
    ...(top_p != null && top_p < 1 && { top_p }),
    // vLLM writes −1 for off.
    ...(top_k != null && top_k > 0 && { top_k }),
    ...(min_p != null && min_p > 0 && { min_p }),
    ...(repetition_penalty != null && repetition_penalty !== 1 && { repetition_penalty }),
    ...(presence_penalty != null && presence_penalty !== 0 && { presence_penalty }),
    ...(frequency_penalty != null && frequency_penalty !== 0 && { frequency_penalty }),
    ...(min_tokens != null && min_tokens > 0 && { min_tokens }),
    ...(logit_bias != null && Object.keys(logit_bias).length > 0 && { logit_bias }),
  };
}

/** How the answers of a request are drawn. */
export const drawingOf = (
  asked: Partial<Fields>,
): Pick<Request, "n" | "temperature" | "stop" | "seed" | "choosing"> => ({
  n: asked.n ?? 1,
  temperature: asked.temperature ?? 1,
  stop: asked.stop ?? [],
  seed: asked.seed ?? undefined,
  choosing: choosingOf(asked),
});

/** @throws Refusal for what the model cannot do, unless it is asked for nothing */
export function refuseUnknown(
  body: Readonly<Record<string, unknown>>,
  ways: Readonly<Record<string, string>>,
): void {
  for (const [name, way] of Object.entries(ways)) {
    const value = body[name];
    if (value == null || value === false || value === "" || value === 0) continue;
    throw new Refusal(400, "unsupported_parameter", `This server has no \`${name}\`. ${way}`, name);
  }
}

/** A body of the shape that a schema wants. @throws Refusal that names the field */
export function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  const [issue] = error.issues;
  const path = issue?.path.join(".") ?? "";
  const where = path === "" ? "The body" : `\`${path}\``;
  throw new Refusal(
    400,
    "invalid_request",
    `${where}: ${issue?.message ?? "not valid"}. Correct it and ask again.`,
    path === "" ? null : path,
  );
}
