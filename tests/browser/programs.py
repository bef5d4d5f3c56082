"""Cells with modules to look into."""

BLOCK = '''"""module @block {
  func.func public @main(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<8x64xf32> {
    %0 = func.call @attention(%x, %w) : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = func.call @gelu(%0) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = func.call @gelu(%1) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    return %2 : tensor<8x64xf32>
  }
  func.func private @attention(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<8x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = func.call @layer_norm(%0) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }
  func.func private @layer_norm(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %0 = stablehlo.custom_call @rms_norm(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    return %0 : tensor<8x64xf32>
  }
  func.func private @gelu(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
    %0 = stablehlo.tanh %x : tensor<8x64xf32>
    %1 = stablehlo.multiply %0, %x : tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }
}"""'''
NORM = '''"""func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = func.call @gelu(%x) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
func.func private @gelu(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.tanh %x : tensor<8x64xf32>
  %1 = stablehlo.multiply %0, %x : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}"""'''
DEFINE = f"""
import kernel_magics as km
km.session.reset()
km.session.define({BLOCK}, name="block")
km.session.define({NORM}, name="norm")
"""
TWO_UNITS = DEFINE + "km.inspect(km.session)"
FAN = """
import kernel_magics as km
calls = "".join(f"  func.call @layer_{n}() : () -> ()\\n" for n in range(COUNT))
bodies = "".join(
    f"func.func private @layer_{n}() {{\\n  %0 = stablehlo.constant dense<{n}> : tensor<i32>\\n  return\\n}}\\n"
    for n in range(COUNT)
)
session = km.Session()
session.define(f"func.func @main() {{\\n{calls}  return\\n}}\\n{bodies}", name="fan");
"""
"""A function that calls COUNT others."""
HOSTILE = r'''
import kernel_magics as km
km.session.reset()
name = '"</script><img src=x onerror=window.hacked=1>]]>\\22\\0A\\E2\\80\\AE"'
km.session.define(f"""func.func @main() {{
  func.call @{name}() : () -> ()
  return
}}
func.func private @{name}() {{
  return
}}""", name="<img src=x onerror=window.hacked=2>")
km.inspect(km.session)
'''
LOOP = '''"""module @block {
  func.func public @main(%x: tensor<8x64xf32>, %ws: tensor<4x64x192xf32>) -> tensor<8x64xf32> {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%h = %x, %i = %c0) : tensor<8x64xf32>, tensor<i32>
     cond {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %less = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %w = stablehlo.dynamic_slice %ws, %i, %c0, %c0, sizes = [1, 64, 192] : (tensor<4x64x192xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x192xf32>
      %r = stablehlo.reshape %w : (tensor<1x64x192xf32>) -> tensor<64x192xf32>
      %a = func.call @attention(%h, %r) : (tensor<8x64xf32>, tensor<64x192xf32>) -> tensor<8x64xf32>
      %s = stablehlo.add %h, %a : tensor<8x64xf32>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %s, %n : tensor<8x64xf32>, tensor<i32>
    }
    %t = stablehlo.tanh %0#0 : tensor<8x64xf32>
    return %t : tensor<8x64xf32>
  }
  func.func private @attention(%x: tensor<8x64xf32>, %w: tensor<64x192xf32>) -> tensor<8x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x192xf32>) -> tensor<8x192xf32>
    %1 = stablehlo.slice %0 [0:8, 0:64] : (tensor<8x192xf32>) -> tensor<8x64xf32>
    return %1 : tensor<8x64xf32>
  }
}"""'''
WITH_LOOP = f"""
import kernel_magics as km
km.session.reset()
km.session.define({LOOP}, name="block")
km.inspect(km.session)
"""
LONG = """
import kernel_magics as km
names = ["sine", "cosine", "negate", "tanh"]
body = "".join(
    f"  %v{n + 1} = stablehlo.{names[n % 4]} %v{n} : tensor<8xf32>\\n" for n in range(COUNT)
)
session = km.Session()
session.define(
    f"func.func @main(%v0: tensor<8xf32>) -> tensor<8xf32> {{\\n{body}  return %vCOUNT : tensor<8xf32>\\n}}",
    name="long",
)
km.inspect(session)
"""
"""A function of COUNT ops."""
