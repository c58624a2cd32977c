/** An editor in a workbench, as hands move it: files, places in them, keys, and the widgets that appear. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { runCommand, webviewOf, type Workbench } from "../support/workbench.ts";

export class Editor {
  readonly page: Page;

  constructor(private readonly workbench: Workbench) {
    this.page = workbench.page;
  }

  get panel(): ReturnType<typeof webviewOf> {
    return webviewOf(this.page);
  }

  command(title: string): Promise<void> {
    return runCommand(this.page, title);
  }
  async keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }
  type(text: string): Promise<void> {
    return this.page.keyboard.type(text, { delay: 20 });
  }
  /** Waits until something is on the page. */
  async seen(what: string | Locator): Promise<Locator> {
    const locator = typeof what === "string" ? this.page.locator(what) : what;
    await locator.first().waitFor({ state: "visible" });
    return locator.first();
  }

  /** @param path below the folder; found without the editor's search, which the workbench out of npm lacks */
  async open(path: string): Promise<void> {
    const name = basename(path);
    await this.keys("Control+p");
    await this.answer(join(this.workbench.folder!, path), name);
    await this.seen(
      this.page.getByRole("tab", {
        name: new RegExp(`^${name.replaceAll(".", "\\.")}`),
      }),
    );
    await this.seen(".editor-instance .view-line");
  }
  /** Puts the cursor after the first occurrence of `text` in a file as it is on disk, less `back` characters. */
  async goTo(file: string, text: string, back = 0): Promise<void> {
    const whole = readFileSync(join(this.workbench.folder!, file), "utf8");
    const at = whole.indexOf(text);
    if (at < 0) throw new Error(`${file} has no ${JSON.stringify(text)}`);
    const lines = whole.slice(0, at + text.length - back).split("\n");
    await this.keys("Control+g");
    await this.answer(`:${lines.length}:${lines.at(-1)!.length + 1}`);
  }
  private async answer(text: string, row?: string): Promise<void> {
    await (await this.seen(".quick-input-widget input")).fill(text);
    if (row !== undefined)
      await this.seen(
        this.page.locator(".quick-input-list .monaco-list-row", {
          hasText: row,
        }),
      );
    await this.keys("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Suggestions, with the chosen one's text next to them. */
  async suggest(): Promise<void> {
    await this.keys("Control+Space");
    await this.seen(".suggest-widget.visible .monaco-list-row");
    const details = this.page.locator(".suggest-details-container");
    // The editor remembers from one list to the next whether they were shown.
    const shown = details.waitFor({ state: "visible", timeout: 2_000 });
    await shown.catch(() => this.keys("Control+Space"));
    // Names that say everything have none.
    await details.waitFor({ state: "visible", timeout: 2_000 }).catch(() => undefined);
  }
  /** The hover at the cursor, asked for again where the first answer took too long, until it is no longer being loaded. */
  async hover(): Promise<void> {
    const row = this.page.locator(".monaco-hover:not(.hidden) .hover-row");
    for (let attempt = 0; attempt < 3 && !(await row.first().isVisible()); attempt++) {
      await this.command("Show or Focus Hover");
      await row
        .first()
        .waitFor({ timeout: 15_000 })
        .catch(() => undefined);
    }
    await this.seen(row);
    for (const text of ["Loading...", "Checking for quick fixes..."])
      await this.page.getByText(text).waitFor({ state: "hidden" });
  }
  async actions(): Promise<void> {
    await this.keys("Control+.");
    await this.seen(".action-widget .monaco-list-row");
  }
  async choose(action: RegExp): Promise<void> {
    const rows = this.page.locator(".action-widget .monaco-list-row.action");
    const titles = await rows.allTextContents();
    const index = titles.findIndex((title) => action.test(title.replaceAll("\u00a0", " ")));
    if (index < 0) throw new Error(`no such action among ${titles.join(", ")}`);
    // The first is chosen when the menu opens. A click would hit what keeps the page from clicks.
    await this.keys(...Array.from({ length: index }, () => "ArrowDown"), "Enter");
    await this.page.locator(".context-view-pointerBlock").waitFor({ state: "hidden" });
  }
  /** Lets the mouse rest on something until its hover appears. */
  async point(at: Locator): Promise<void> {
    await at.hover();
    await this.seen(".monaco-hover:not(.hidden) .hover-contents");
  }

  /** Everything as it was on disk, nothing open, and the mouse where nothing is. */
  async reset(): Promise<void> {
    await this.page.mouse.move(720, 880);
    await this.keys("Escape", "Escape");
    await this.command("Revert and Close Editor");
    await this.command("View: Close All Editors");
    const refused = this.page.getByRole("button", { name: "Don't Save" });
    if (await refused.isVisible()) await refused.click();
    if (await this.page.locator(".part.sidebar").isVisible()) await this.keys("Control+b");
    if (await this.page.locator(".part.panel").isVisible()) await this.keys("Control+j");
  }
}
