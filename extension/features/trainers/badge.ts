/** A number on our icon for findings that the person has not looked at. Seen once, it stays away until there are more or fewer. */
import type { Memento, TreeView, ViewBadge } from "vscode";
import { findingsText, type Card } from "./card.ts";

const key = "trainerCards.seen";

export class CardBadge {
  constructor(
    private readonly cards: () => readonly Card[],
    private readonly state: Memento,
  ) {}

  of(view: TreeView<unknown>): ViewBadge | undefined {
    const cards = this.cards();
    const value = cards.reduce((sum, { findings }) => sum + findings, 0);
    if (value === 0 || this.state.get<number>(key) === value) return undefined;
    if (!view.visible) return { value, tooltip: findingsText(value) };
    void this.state.update(key, value);
    return undefined;
  }
}
