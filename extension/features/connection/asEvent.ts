import type { Disposable, Event } from "vscode";
import type { Emitter } from "./emitter.ts";

/** An emitter of ours as the editor takes one. */
export const asEvent =
  <T>(emitter: Emitter<T>): Event<T> =>
  (listener, own?: unknown, disposables?: Disposable[]) => {
    const following = { dispose: emitter.on((value) => void listener.call(own, value)) };
    disposables?.push(following);
    return following;
  };
