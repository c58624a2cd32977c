import type { z } from "zod";
import type { InputOf, ResultOf } from "../../../shared/protocol/protocol.ts";

/** Anything that answers the protocol's requests. */
export interface Asker {
  ask<R extends { readonly method: string; readonly params: z.ZodType }>(
    request: R,
    parameters: InputOf<R>,
  ): Promise<ResultOf<R>>;
}
