import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused } from "../src/control_panel/source.ts";
import { type Kernel, PluginLink, TARGET } from "../src/labextension/plugin_link.ts";
import { LivePanel } from "../src/widget/panel_commands.ts";
import { FakeModel } from "./fake_model.ts";

const VIEW = { version: 1, plugins: [] };

test("a command of the panel is done, or refused with advice", async () => {
  const model = new FakeModel(VIEW);
  const panel = new LivePanel(model);
  const used = panel.ask({ kind: "plugin", action: "use", name: "zml" });
  const refused = panel.ask({ kind: "unregister", target: "f" });
  const [first, second] = model.sent;
  assert.deepEqual({ ...first, id: "" }, { kind: "plugin", action: "use", name: "zml", id: "" });
  model.reply({ kind: "done", id: first?.id, words: "new work runs on zml" });
  const why = { message: "no such target", advice: "look again", detail: "" };
  model.reply({ kind: "refused", id: second?.id, ...why });
  assert.equal(await used, "new work runs on zml");
  await assert.rejects(refused, (error: unknown) => {
    assert.ok(error instanceof Refused);
    assert.equal(error.message, "no such target");
    assert.equal(error.advice, "look again");
    return true;
  });
  panel.dispose();
  assert.equal(model.listeners.size, 0);
});

test("tables that change are drawn again, and a kernel that is gone is not asked", async () => {
  const model = new FakeModel(VIEW);
  const panel = new LivePanel(model);
  let told = 0;
  panel.onChange(() => told++);
  model.listeners.get("change:view")?.();
  panel.lose();
  assert.equal(told, 2);
  await assert.rejects(panel.ask({ kind: "discover" }), /gone/);
  assert.equal(panel.connection(), "gone");
});

/** A comm, and the kernel at the other end of it. */
class FakeComm {
  readonly sent: unknown[] = [];
  onMsg: (message: { content: { data: unknown } }) => void = () => {};
  onClose: (message: unknown) => void = () => {};
  send(data: unknown) {
    this.sent.push(data);
  }
  say(data: unknown) {
    this.onMsg({ content: { data } });
  }
}

function fakeKernel(comms: Record<string, unknown>, comm: FakeComm) {
  const opened: ((comm: FakeComm, message: { content: { data: unknown } }) => void)[] = [];
  const kernel: Kernel = {
    registerCommTarget: (name, listener) => {
      assert.equal(name, TARGET);
      opened.push(listener as never);
    },
    removeCommTarget: () => {},
    requestCommInfo: async () => ({ content: { comms } }),
    createComm: () => comm,
  };
  return { kernel, opened };
}

test("the status bar learns of plugins when the kernel opens its comm", () => {
  const comm = new FakeComm();
  const { kernel, opened } = fakeKernel({}, comm);
  let told = 0;
  const link = new PluginLink(kernel, () => told++);
  assert.equal(link.state, null);
  const state = { active: "cpu", loaded: ["cpu", "zml"], problem: "" };
  opened[0]?.(comm, { content: { data: state } });
  assert.deepEqual(link.state, state);
  link.use("zml");
  assert.deepEqual(comm.sent, [{ use: "zml" }]);
  comm.say({ something: "else" });
  assert.deepEqual(link.state, state);
  comm.onClose({});
  assert.equal(link.state, null);
  assert.equal(told, 2);
});

test("a page that is loaded later takes the comm up that is there", async () => {
  const comm = new FakeComm();
  const { kernel } = fakeKernel({ "an-id": {} }, comm);
  const link = new PluginLink(kernel, () => {});
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(comm.sent, [{}]);
  comm.say({ active: "cpu", loaded: ["cpu"], problem: "" });
  assert.equal(link.state?.active, "cpu");
});
