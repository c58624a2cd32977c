/** Whether the store's daemon answers: one that is there and does not keeps every command of the store from working. */
import { placeText } from "../../../shared/daemon/place.ts";
import type { DaemonState } from "../../../shared/daemon/state.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { Check } from "./checks.ts";

export async function checkDaemon(store: string, look: () => Promise<DaemonState>): Promise<Check> {
  const name = "daemon";
  try {
    const found = await look();
    if (found.state === "serving") {
      found.link.close();
      return { name, status: "ok", detail: `pid ${found.link.hello.pid} serves ${store}` };
    }
    if (found.state === "none") return { name, status: "ok", detail: "not running; the next run starts one" };
    if (found.state === "elsewhere")
      return {
        name,
        status: "missing",
        detail: `pid ${found.pid} serves ${store} ${placeText(found.place)}`,
        fix: "work there, or stop it there: gradus daemon stop",
      };
    return {
      name,
      status: "missing",
      detail: `pid ${found.identity.pid} serves ${store} and cannot be reached: ${found.reason}`,
      fix: "gradus daemon stop (runs continue without it)",
    };
  } catch (error) {
    const fix = error instanceof UserError ? error.detail.action : undefined;
    return { name, status: "missing", detail: messageOf(error), ...(fix === undefined ? {} : { fix }) };
  }
}
