/** A request of the protocol and what answers it: parameters are checked first. */
import type { z } from "zod";
import type { ParamsOf, ResultOf } from "../../shared/protocol/protocol.ts";
import { checked } from "./failure.ts";

export type Handlers = Readonly<Record<string, (parameters: unknown) => Promise<unknown>>>;

interface Descriptor {
  readonly method: string;
  readonly params: z.ZodType;
}

export const answers = <R extends Descriptor>(
  request: R,
  answer: (parameters: ParamsOf<R>) => Promise<ResultOf<R>>,
): Handlers => ({
  [request.method]: async (value) =>
    answer(checked<ParamsOf<R>>(request.params as unknown as z.ZodType<ParamsOf<R>>, request.method, value)),
});
