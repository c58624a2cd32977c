/** The state of a store's daemon, found by asking it and, if it does not answer, by looking at its process. */
import { UserError, messageOf } from "../lib/errors.ts";
import { connectExisting, type ConnectWish } from "./connect.ts";
import type { DaemonLink } from "./handshake.ts";
import { findServing, type Serving } from "./owner.ts";
import type { ProcessIdentity } from "./process.ts";

export type DaemonState =
  | { readonly state: "serving"; readonly link: DaemonLink }
  | { readonly state: "unreachable"; readonly identity: ProcessIdentity; readonly reason: string }
  | Exclude<Serving, { readonly state: "here" }>;

/** Errors that say something else than that a daemon does not answer. */
const ownAdvice = new Set(["runtime-folder", "wrong-protocol", "foreign-owner"]);

/** The daemon of a store as it is: answering, there but not answering, elsewhere, or none. Starts nothing. */
export async function lookForDaemon(wish: ConnectWish): Promise<DaemonState> {
  let reason = "nothing listens on its socket";
  try {
    const link = await connectExisting(wish);
    if (link !== null) return { state: "serving", link };
  } catch (error) {
    if (error instanceof UserError && ownAdvice.has(error.detail.code ?? "")) throw error;
    reason = messageOf(error).replace(/\.$/, "");
  }
  const serving = findServing(wish.store);
  return serving.state === "here" ? { state: "unreachable", identity: serving.identity, reason } : serving;
}
