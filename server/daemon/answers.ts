/** A request of the protocol and what answers it: parameters are checked first. */
import type { CancellationToken } from "vscode-jsonrpc/node";
import type { z } from "zod";
import type { ParamsOf, ResultOf } from "../../shared/protocol/protocol.ts";
import { checked } from "./failure.ts";

/** The token says that whoever asked no longer wants the answer. */
export type Handlers = Readonly<
  Record<string, (parameters: unknown, token: CancellationToken) => Promise<unknown>>
>;

interface Descriptor {
  readonly method: string;
  readonly params: z.ZodType;
}

export const answers = <R extends Descriptor>(
  request: R,
  answer: (parameters: ParamsOf<R>, token: CancellationToken) => Promise<ResultOf<R>>,
): Handlers => ({
  [request.method]: async (value, token) =>
    answer(
      checked<ParamsOf<R>>(request.params as unknown as z.ZodType<ParamsOf<R>>, request.method, value),
      token,
    ),
});
