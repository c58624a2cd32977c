/** Every alarm, the most serious first: where several are seen, the first is the verdict. */
import type { Alarm } from "../finding.ts";
import { collapsed } from "./collapsed.ts";
import { failing } from "./failing.ts";
import { hacking } from "./hacking.ts";
import { starved } from "./starved.ts";
import { notFinite, unstable } from "./unstable.ts";

export const alarms: readonly Alarm[] = [failing, notFinite, collapsed, hacking, unstable, starved];
