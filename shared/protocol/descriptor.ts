/** What a request and a notification are: a name, types, and the schema of its parameters. */
import type { z } from "zod";

export interface Request<Params, Result, Input = Params> {
  readonly method: string;
  /** `Input` is what a caller writes (defaults left out), `Params` what the handler gets. */
  readonly params: z.ZodType<Params, Input>;
  /** Phantom: carries the result's type. */
  readonly result?: Result;
}
export interface Notification<Params> {
  readonly method: string;
  readonly params?: Params;
}
export type ParamsOf<R> = R extends { readonly params: z.ZodType<infer P> } ? P : never;
export type InputOf<R> = R extends { readonly params: z.ZodType<unknown, infer I> } ? I : never;
export type ResultOf<R> = R extends { readonly result?: infer T } ? Exclude<T, undefined> : never;

/** A descriptor whose result is of a type, which nothing at run time carries. */
export const request =
  <Result>() =>
  <Params, Input>(method: string, params: z.ZodType<Params, Input>): Request<Params, Result, Input> => ({
    method,
    params,
  });
export const notification = <Params>(method: string): Notification<Params> => ({ method });
