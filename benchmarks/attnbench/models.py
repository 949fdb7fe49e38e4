# ===- models.py - whole models and a block ---------------------------- === #
# Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ===-----------------------------------------------------------------------=== #
"""BERT in two sizes and a Transformer encoder block, with random weights.

Time does not depend on what the weights are. attn-opt compiles a Hugging Face
directory, which has an attention mask; here it is all ones, and the peers are
spared it.
"""

from .graph import Graph, Input


def layer_weights(prefix, width, inner):
    """Of one encoder layer, by the names of Hugging Face."""
    layers = {
        "attention.self.query": (width, width),
        "attention.self.key": (width, width),
        "attention.self.value": (width, width),
        "attention.output.dense": (width, width),
        "attention.output.LayerNorm": (width,),
        "intermediate.dense": (inner, width),
        "output.dense": (width, inner),
        "output.LayerNorm": (width,),
    }
    for name, shape in layers.items():
        yield f"{prefix}{name}.weight", shape
        yield f"{prefix}{name}.bias", shape[:1]


def layer(ops, x, prefix, heads):
    """y = Norm(x + Attention(x)); Norm(y + FeedForward(y))."""
    names = [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]
    o = ops.self_attention(x, names, heads)
    o = ops.linear(o, f"{prefix}attention.output.dense")
    y = ops.norm_of_sum(o, x, f"{prefix}attention.output.LayerNorm")
    z = ops.linear_gelu(y, f"{prefix}intermediate.dense")
    z = ops.linear(z, f"{prefix}output.dense")
    return ops.norm_of_sum(z, y, f"{prefix}output.LayerNorm")


def layer_flops(batch, tokens, width, inner):
    products = 4 * width * width + 2 * width * inner
    return batch * tokens * (2 * products + 4 * tokens * width)


def bert(name, batch, tokens, layers, width, inner, words, must):
    heads, positions = 12, 512

    def formula(ops):
        tables = [f"embeddings.{of}_embeddings" for of in ("word", "token_type", "position")]
        x = ops.embeddings(ops.input("input_ids"), ops.input("token_type_ids"), *tables)
        x = ops.layer_norm(x, "embeddings.LayerNorm")
        for n in range(layers):
            x = layer(ops, x, f"encoder.layer.{n}.", heads)
        return x

    weights = {
        "embeddings.word_embeddings.weight": (words, width),
        "embeddings.position_embeddings.weight": (positions, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for n in range(layers):
        weights.update(layer_weights(f"encoder.layer.{n}.", width, inner))
    shape = (("batch", batch), ("sequence", tokens))
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions,
        "type_vocab_size": 2,
        "vocab_size": words,
    }
    return Graph(
        f"{name} {batch}x{tokens}",
        formula,
        {"input_ids": Input(shape, below=words), "token_type_ids": Input(shape, below=2)},
        weights,
        flop=layers * layer_flops(batch, tokens, width, inner),
        config=config,
        must=must,
    )


def minilm(batch, tokens, must=1.05):
    return bert("MiniLM-L6", batch, tokens, 6, 384, 1536, 30522, must)


def bert_base(tokens):
    # As many words as a check needs; a run reads one row a token.
    return bert("BERT-base", 1, tokens, 12, 768, 3072, 4096, 1.08)


def block(tokens, width, element, must):
    shape = (("batch", 1), ("sequence", tokens), width)
    return Graph(
        f"encoder block D{width} {tokens} tokens {element}",
        lambda ops: layer(ops, ops.input("x"), "", width // 64),
        {"x": Input(shape)},
        dict(layer_weights("", width, 4 * width)),
        flop=layer_flops(1, tokens, width, 4 * width),
        element=element,
        must=must,
    )


LINES = [
    minilm(1, 1),
    minilm(1, 16),
    minilm(1, 77),
    minilm(1, 128, must=1.13),
    minilm(1, 512),
    minilm(8, 128),
    minilm(32, 128),
    bert_base(128),
    bert_base(512),
    block(512, 768, "bf16", must=1.1),
]
