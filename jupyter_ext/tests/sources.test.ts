import assert from "node:assert/strict";
import { test } from "node:test";
import { SavedSource } from "../src/view/source.ts";
import { Store } from "../src/view/store.ts";
import { LiveSource } from "../src/widget/commands.ts";
import { FakeModel } from "./fake_model.ts";
import { edge, module, node } from "./views.ts";

const VIEW = module([node("main")]);
const find = (query: string) => ({ query, within: "", drawn: null });

test("a command has an id, and one reply with the same", async () => {
  const model = new FakeModel(VIEW);
  const source = new LiveSource(model);
  const first = source.ask("symbols", {});
  const second = source.ask("find", find("x"));
  const [one, other] = model.sent;
  assert.ok(one && other && one.id !== other.id);
  const hits = { hits: [], total: 0, nearest: [] };
  model.reply({ kind: "answered", id: other.id, answer: hits, is_outdated: false });
  model.reply({ kind: "answered", id: one.id, answer: { rows: [] }, is_outdated: false });
  assert.deepEqual(await second, hits);
  assert.deepEqual(await first, { rows: [] });
  source.dispose();
  assert.equal(model.listeners.size, 0);
});

test("replies to another view and replies twice are passed over", async () => {
  const model = new FakeModel(VIEW);
  const source = new LiveSource(model);
  const asked = source.ask("symbols", {});
  const id = model.sent[0]?.id;
  model.reply({ kind: "failed", id: "somebody-else", message: "no" });
  model.reply({ kind: "failed", id, message: "there is no such text" });
  model.reply({ kind: "failed", id, message: "again" });
  await assert.rejects(asked, /there is no such text/);
  source.dispose();
});

test("an outdated view is told, and a new one ends it", async () => {
  const model = new FakeModel(VIEW);
  const source = new LiveSource(model);
  let told = 0;
  source.onChange(() => told++);
  const asked = source.ask("symbols", {});
  model.reply({ kind: "answered", id: model.sent[0]?.id, answer: { rows: [] }, is_outdated: true });
  await asked;
  assert.ok(source.isOutdated());
  model.listeners.get("change:view")?.();
  assert.ok(!source.isOutdated());
  assert.equal(told, 2);
  source.dispose();
});

test("a kernel that is silent is said to be so; one that is gone is not asked", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const source = new LiveSource(new FakeModel(VIEW));
  const asked = source.ask("symbols", {});
  context.mock.timers.tick(9000);
  await assert.rejects(asked, /does not answer/);
  assert.equal(source.connection(), "silent");
  source.lose();
  assert.equal(source.connection(), "gone");
  await assert.rejects(source.ask("symbols", {}), /gone/);
  source.dispose();
});

const saved = module(
  [node("main", { is_entry: true }), node("f"), node("more", { kind: "group", members: 9 })],
  [edge(0, 1)],
);

test("a saved view answers as far as it was kept", async () => {
  const source = new SavedSource({
    ...saved,
    saved: {
      note: "compiled in 0.2 s",
      first_tab: "text",
      texts: [
        {
          facts: { text: -1, line_count: 4, ranges: [{ node: "f", first: 2, last: 3 }] },
          lines: ["module {", "  func.func @f()", "  }", "}"],
        },
      ],
    },
  });
  const answer = await source.ask("function", { node: "f" });
  assert.deepEqual(answer.texts[0]?.lines, ["  func.func @f()", "  }"]);
  assert.deepEqual(answer.callers, ["main"]);
  const lines = await source.ask("lines", { text: -1, first: 4, count: 10 });
  assert.deepEqual(lines, { first: 4, lines: ["}"] });
  assert.equal((await source.ask("find", find("@MAIN"))).total, 1);
  assert.equal(source.firstTab(), "text");
  await assert.rejects(source.ask("symbols", {}), /not saved/);
  await assert.rejects(source.ask("text", { text: 0 }), /not saved/);
  await assert.rejects(source.ask("open", { group: "more" }), /not saved/);
  await assert.rejects(source.ask("op", { function: "f", op: "0", drawn: null }), /not saved/);
});

test("back leads where one was, and going elsewhere forgets the way forward", () => {
  const store = new Store();
  store.go({ selected: "a" });
  store.go({ tab: "text" });
  assert.ok(store.state.isPanelOpen);
  store.back();
  assert.deepEqual([store.state.tab, store.state.selected], ["functions", "a"]);
  store.back();
  assert.equal(store.state.selected, "");
  store.forward();
  assert.equal(store.state.selected, "a");
  store.go({ selected: "b" });
  assert.ok(!store.canGoForward);
  store.go({ selected: "b" });
  store.back();
  assert.equal(store.state.selected, "a");
});

test("another function has other ops: what was selected in the one before is not kept", () => {
  const store = new Store();
  store.go({ tab: "ops", selected: "a", op: "3", root: "2" });
  store.go({ selected: "b" });
  assert.deepEqual([store.state.op, store.state.root], ["", ""]);
  store.back();
  assert.deepEqual([store.state.selected, store.state.op, store.state.root], ["a", "3", "2"]);
});
