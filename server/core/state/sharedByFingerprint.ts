/** Things made of a config's choices, once for each distinct choice: stages that choose alike share one, with its state. */
import type { Saved } from "../basics.ts";

type Shareable = object & { save?(): Saved | undefined; load?(saved: Saved): void };

export class SharedByFingerprint<Thing extends Shareable | undefined> {
  private readonly made = new Map<string, Thing>();

  /** @param restored state of a checkpoint by key, filled before or after things are made: each takes up its own */
  constructor(private readonly restored: ReadonlyMap<string, Saved> = new Map()) {}

  get(key: string, make: () => Thing): Thing {
    const known = this.made.get(key);
    return known !== undefined || this.made.has(key) ? known! : this.add(key, make(), this.restored.get(key));
  }
  /** Makes it again, with the state that it has now. */
  renew(key: string, make: () => Thing): Thing {
    return this.add(key, make(), this.made.get(key)?.save?.() ?? this.restored.get(key));
  }
  private add(key: string, thing: Thing, saved: Saved | undefined): Thing {
    if (saved !== undefined) thing?.load?.(saved);
    this.made.set(key, thing);
    return thing;
  }

  get values(): readonly Thing[] {
    return [...this.made.values()];
  }
  /** State by key, of what was made and has any. */
  saved(): [string, Saved][] {
    return [...this.made].flatMap(([key, thing]): [string, Saved][] => {
      const saved = thing?.save?.();
      return saved === undefined ? [] : [[key, saved]];
    });
  }
  /** Puts the restored state into what was made already. */
  restore(): void {
    for (const [key, thing] of this.made) {
      const own = this.restored.get(key);
      if (own !== undefined) thing?.load?.(own);
    }
  }
}
