import type { Event } from "vscode";
import type { Emitter } from "./emitter.ts";

/** An emitter of ours as the editor takes one. */
export const asEvent =
  <T>(emitter: Emitter<T>): Event<T> =>
  (listener) => ({ dispose: emitter.on(listener) });
