//===- Architectures.cpp - what the importer knows of each model ----------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Field names, fallbacks and tensor names are those of the model classes in
// Hugging Face transformers.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace attn::hf {

static constexpr FixedField bertFixed[] = {
    {"position_embedding_type", "\"absolute\"",
     "relative positions are not imported"},
    {"is_decoder", "false", "an encoder sees keys on both sides"},
    {"add_cross_attention", "false", "an encoder has no second input"},
};
static constexpr StringLiteral bertIgnored[] = {
    "embeddings.position_ids", // 0, 1, 2, ...
    "embeddings.token_type_ids",
};

static constexpr EncoderArchitecture encoders[] = {
    // BERT, MiniLM, BGE, E5, GTE.
    {
        /*modelType=*/"bert",
        /*className=*/"BertModel",
        /*prefix=*/"bert.",
        /*vocabulary=*/{"vocab_size", 30522},
        /*hidden=*/{"hidden_size", 768},
        /*intermediate=*/{"intermediate_size", 3072},
        /*layers=*/{"num_hidden_layers", 12},
        /*heads=*/{"num_attention_heads", 12},
        /*positions=*/{"max_position_embeddings", 512},
        /*tokenTypes=*/{"type_vocab_size", 2},
        /*activation=*/"hidden_act",
        /*normEpsilon=*/"layer_norm_eps",
        /*normEpsilonFallback=*/1e-12,
        /*fixedFields=*/bertFixed,
        /*wordTable=*/"embeddings.word_embeddings",
        /*positionTable=*/"embeddings.position_embeddings",
        /*tokenTypeTable=*/"embeddings.token_type_embeddings",
        /*embeddingNorm=*/"embeddings.LayerNorm",
        /*query=*/"encoder.layer.{i}.attention.self.query",
        /*key=*/"encoder.layer.{i}.attention.self.key",
        /*value=*/"encoder.layer.{i}.attention.self.value",
        /*attentionOutput=*/"encoder.layer.{i}.attention.output.dense",
        /*attentionNorm=*/"encoder.layer.{i}.attention.output.LayerNorm",
        /*feedForward1=*/"encoder.layer.{i}.intermediate.dense",
        /*feedForward2=*/"encoder.layer.{i}.output.dense",
        /*feedForwardNorm=*/"encoder.layer.{i}.output.LayerNorm",
        /*pooler=*/"pooler.dense",
        /*ignored=*/bertIgnored,
    },
    // DistilBERT: no token types, no pooler; the epsilon is not a field.
    {
        /*modelType=*/"distilbert",
        /*className=*/"DistilBertModel",
        /*prefix=*/"distilbert.",
        /*vocabulary=*/{"vocab_size", 30522},
        /*hidden=*/{"dim", 768},
        /*intermediate=*/{"hidden_dim", 3072},
        /*layers=*/{"n_layers", 6},
        /*heads=*/{"n_heads", 12},
        /*positions=*/{"max_position_embeddings", 512},
        /*tokenTypes=*/{"", 0},
        /*activation=*/"activation",
        /*normEpsilon=*/"",
        /*normEpsilonFallback=*/1e-12,
        /*fixedFields=*/{},
        /*wordTable=*/"embeddings.word_embeddings",
        // Also with "sinusoidal_pos_embds": the table is stored either way.
        /*positionTable=*/"embeddings.position_embeddings",
        /*tokenTypeTable=*/"",
        /*embeddingNorm=*/"embeddings.LayerNorm",
        /*query=*/"transformer.layer.{i}.attention.q_lin",
        /*key=*/"transformer.layer.{i}.attention.k_lin",
        /*value=*/"transformer.layer.{i}.attention.v_lin",
        /*attentionOutput=*/"transformer.layer.{i}.attention.out_lin",
        /*attentionNorm=*/"transformer.layer.{i}.sa_layer_norm",
        /*feedForward1=*/"transformer.layer.{i}.ffn.lin1",
        /*feedForward2=*/"transformer.layer.{i}.ffn.lin2",
        /*feedForwardNorm=*/"transformer.layer.{i}.output_layer_norm",
        /*pooler=*/"",
        /*ignored=*/{},
    },
};

const EncoderArchitecture *lookupEncoder(StringRef modelType) {
  for (const EncoderArchitecture &encoder : encoders)
    if (encoder.modelType == modelType)
      return &encoder;
  return nullptr;
}

std::string knownModelTypes() {
  return join(
      map_range(encoders, [](auto &row) { return row.modelType.str(); }), ", ");
}

} // namespace attn::hf
