import type { z } from "zod";
import type { Cancellation } from "../../../shared/daemon/request.ts";
import type { InputOf, ResultOf } from "../../../shared/protocol/protocol.ts";

/** Anything that answers the protocol's requests. */
export interface Asker {
  ask<R extends { readonly method: string; readonly params: z.ZodType }>(
    request: R,
    parameters: InputOf<R>,
    token?: Cancellation,
  ): Promise<ResultOf<R>>;
}
