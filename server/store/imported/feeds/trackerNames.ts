/** Metrics of a tracker: whose names they are is not written anywhere, so the names themselves decide. */
import type { WireNumber } from "../../../../shared/rollouts/rollouts.ts";
import { namers, type Namer } from "../../../../shared/run/trainers.ts";
import { named, ownName } from "../metricNames.ts";

/** transformers' callbacks put its own in front. */
const plain = (name: string): string => name.replace(/^train\//, "");

/** Step counters: a tracker's own number counts calls of its `log`. */
const counters = ["train/global_step", "training/global_step", "trainer/global_step", "global_step"];

export class TrackerNames {
  private readonly seen = new Set<string>();
  private namer: Namer = "trl";

  /** @param data numbers by name, as they were logged */
  values(data: Readonly<Record<string, unknown>>): Record<string, WireNumber> {
    const names = Object.keys(data);
    if (names.some((name) => !this.seen.has(name))) {
      for (const name of names) this.seen.add(name);
      this.namer = this.closest();
    }
    return named(
      this.namer,
      Object.fromEntries(Object.entries(data).map(([name, value]) => [this.named(name), value])),
    );
  }

  /** A name that is known without its prefix loses it; others stay as they are. */
  private named(name: string): string {
    const short = plain(name);
    return short !== name && ownName(this.namer, short) !== short ? short : name;
  }

  /** Whose list knows most of the names. */
  private closest(): Namer {
    const known = (namer: Namer): number =>
      [...this.seen].filter((name) => ownName(namer, plain(name)) !== plain(name)).length;
    return namers.reduce((best, namer) => (known(namer) > known(best) ? namer : best));
  }
}

/** The step that a trainer has counted, else the tracker's. */
export function stepOf(data: Readonly<Record<string, unknown>>, own: number): number {
  const counted = counters.map((name) => data[name]).find((value) => typeof value === "number");
  return Number.isInteger(counted) ? Number(counted) : own;
}
