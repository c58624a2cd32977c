/** Steps of an imported run whose files have changed: named once each, while the others are answered. */
import type { UnreadStep } from "../../../shared/protocol/protocol.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { complain } from "../command.ts";
import { pathText } from "./diagnostics.ts";

export class UnreadSteps {
  private readonly said = new Set<number>();

  /** Of one answer: pages repeat them. */
  complain(unread: readonly UnreadStep[] = []): void {
    for (const { step, message, file } of unread) {
      if (this.said.has(step)) continue;
      this.said.add(step);
      complain(visibleText(`${pathText(file)}: warning: ${message}`));
    }
  }
}
