//===- HuggingFaceTest.cpp - import of model folders ----------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A tiny BERT is written to a folder, with one thing wrong (or merely
// different) in each test.
//
//===----------------------------------------------------------------------===//

#include "attn/Import/HuggingFace.h"
#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>

using namespace attn;
using namespace llvm;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct TensorInfo {
  std::string type;
  std::vector<int64_t> shape;
};

/// A model folder in the making; removed at the end.
class Folder {
public:
  Folder() {
    EXPECT_FALSE(sys::fs::createUniqueDirectory("attn-import", path));
    config = json::Object{
        {"model_type", "bert"},     {"architectures", json::Array{"BertModel"}},
        {"vocab_size", 5},          {"hidden_size", 4},
        {"intermediate_size", 8},   {"num_hidden_layers", 1},
        {"num_attention_heads", 2}, {"max_position_embeddings", 6},
        {"type_vocab_size", 2},     {"hidden_act", "gelu"},
        {"layer_norm_eps", 1e-12}};
    add("embeddings.word_embeddings.weight", {5, 4});
    add("embeddings.position_embeddings.weight", {6, 4});
    add("embeddings.token_type_embeddings.weight", {2, 4});
    add("embeddings.LayerNorm.weight", {4});
    add("embeddings.LayerNorm.bias", {4});
    const std::string layer = "encoder.layer.0.";
    for (const char *name : {"attention.self.query", "attention.self.key",
                             "attention.self.value", "attention.output.dense"})
      addLinear(layer + name, 4, 4);
    addLinear(layer + "intermediate.dense", 8, 4);
    addLinear(layer + "output.dense", 4, 8);
    for (const char *name :
         {"attention.output.LayerNorm", "output.LayerNorm"}) {
      add(layer + name + ".weight", {4});
      add(layer + name + ".bias", {4});
    }
  }
  ~Folder() { EXPECT_FALSE(sys::fs::remove_directories(path)); }

  void add(const std::string &name, std::vector<int64_t> shape,
           const std::string &type = "F32") {
    tensors[name] = {type, std::move(shape)};
  }
  void addLinear(const std::string &name, int64_t outputs, int64_t inputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  }
  void write(StringRef name, StringRef text) {
    SmallString<128> file(path);
    sys::path::append(file, name);
    sys::fs::create_directories(sys::path::parent_path(file));
    std::error_code code;
    raw_fd_ostream(file, code) << text;
  }
  std::string str() const { return path.str().str(); }
  /// Writes the folder and imports it. What goes wrong is in `problems`, with
  /// `%` for the folder's path.
  mlir::OwningOpRef<mlir::ModuleOp>
  import(const HuggingFaceOptions &options = {}) {
    if (!config.empty()) {
      std::string text;
      raw_string_ostream(text) << json::Value(json::Object(config));
      write("config.json", text);
    }
    writeTensors();
    problems.clear();
    auto module = importHuggingFace(
        path, &context,
        [&](StringRef text) {
          std::string shown = text.str();
          for (size_t at; (at = shown.find(str())) != std::string::npos;)
            shown.replace(at, str().size(), "%");
          problems.push_back(shown);
        },
        options);
    EXPECT_EQ(!module, !problems.empty());
    if (module)
      EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    return module;
  }

  json::Object config;
  std::map<std::string, TensorInfo> tensors;
  std::vector<std::string> problems;

private:
  void writeTensors() {
    json::Object header;
    uint64_t at = 0;
    for (auto &[name, info] : tensors) {
      uint64_t bytes = info.type == "I64" ? 8 : info.type == "F32" ? 4 : 2;
      json::Array shape;
      for (int64_t size : info.shape) {
        shape.push_back(size);
        bytes *= size;
      }
      header[name] =
          json::Object{{"dtype", info.type},
                       {"shape", std::move(shape)},
                       {"data_offsets", json::Array{at, at + bytes}}};
      at += bytes;
    }
    std::string text, file;
    raw_string_ostream(text) << json::Value(std::move(header));
    for (unsigned i = 0; i < 8; ++i)
      file.push_back(static_cast<char>(text.size() >> (8 * i)));
    write("model.safetensors", file + text + std::string(at, '\0'));
  }

  SmallString<128> path;
  mlir::MLIRContext context;
};

std::string textOf(mlir::OwningOpRef<mlir::ModuleOp> module) {
  std::string text;
  raw_string_ostream stream(text);
  if (module)
    module->print(stream);
  return text;
}

/// Names of the entry's results.
std::vector<std::string> outputs(mlir::OwningOpRef<mlir::ModuleOp> module) {
  std::vector<std::string> names;
  module->walk([&](mlir::func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      names.push_back(
          function.getResultAttrOfType<mlir::StringAttr>(i, "attn.name").str());
  });
  return names;
}

TEST(HuggingFace, GraphOfBert) {
  std::string text = textOf(Folder().import());
  for (
      const char *line :
      {"attn.dim @batch range(1, 2147483647)", "attn.dim @sequence range(1, 6)",
       "attn.weight @encoder.layer.0.output.dense.weight "
       "source<\"model.safetensors\", \"encoder.layer.0.output.dense.weight\"> "
       ": tensor<4x8xf32>",
       "func.func @bert(%arg0: tensor<?x?xi64> {attn.dims = [\"batch\", "
       "\"sequence\"], attn.name = \"input_ids\"}",
       "attn.name = \"attention_mask\"}, ", "attn.name = \"token_type_ids\"})",
       "-> (tensor<?x?x4xf32> {attn.dims = [\"batch\", \"sequence\", \"\"], "
       "attn.name = \"last_hidden_state\"})",
       "attn.learned_positions", "epsilon(1.0e-12)",
       "heads(2) layout(bshd) : tensor<?x?x4xf32> -> tensor<?x?x2x2xf32>",
       "by key_padding(%arg1 : tensor<?x?xi64>)", "<erf>"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(HuggingFace, PoolerOnlyWithItsWeights) {
  Folder folder;
  EXPECT_THAT(outputs(folder.import()), ElementsAre("last_hidden_state"));
  folder.addLinear("pooler.dense", 4, 4);
  EXPECT_THAT(outputs(folder.import()),
              ElementsAre("last_hidden_state", "pooler_output"));
  folder.tensors.erase("pooler.dense.bias");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%: expected a tensor \"pooler.dense.bias\" of shape "
                          "(4) (because hidden_size is 4), got none"));
}

TEST(HuggingFace, NamesOfOtherCheckpoints) {
  Folder folder;
  std::map<std::string, TensorInfo> renamed;
  for (auto &[name, info] : folder.tensors) {
    std::string other = "bert." + name;
    if (StringRef(name).ends_with("LayerNorm.weight"))
      other = "bert." + name.substr(0, name.size() - 6) + "gamma";
    else if (StringRef(name).ends_with("LayerNorm.bias"))
      other = "bert." + name.substr(0, name.size() - 4) + "beta";
    renamed[other] = {"BF16", info.shape};
  }
  folder.tensors = renamed;
  folder.add("bert.embeddings.position_ids", {1, 6}, "I64");
  EXPECT_THAT(textOf(folder.import()),
              HasSubstr("attn.weight @embeddings.LayerNorm.weight "
                        "source<\"model.safetensors\", "
                        "\"bert.embeddings.LayerNorm.gamma\"> : "
                        "tensor<4xf32>"));
}

TEST(HuggingFace, TensorsAllAtOnce) {
  Folder folder;
  folder.tensors.erase("embeddings.LayerNorm.bias");
  folder.tensors.erase("encoder.layer.0.output.dense.weight");
  folder.add("encoder.layer.0.intermediate.dense.weight", {4, 8});
  folder.add("encoder.layer.0.output.dense.bias", {4}, "I64");
  folder.add("encoder.layer.1.output.dense.bias", {4});
  folder.add("mystery", {1});
  folder.import();
  EXPECT_THAT(
      folder.problems,
      ElementsAre(
          "%: expected a tensor \"embeddings.LayerNorm.bias\" of shape (4) "
          "(because hidden_size is 4), got none",
          "%: expected tensor \"encoder.layer.0.intermediate.dense.weight\" to "
          "be of shape (8, 4) (because intermediate_size is 8 and hidden_size "
          "is 4), got F32 (4, 8) in model.safetensors",
          "%: expected a tensor \"encoder.layer.0.output.dense.weight\" of "
          "shape (4, 8) (because hidden_size is 4 and intermediate_size is 8), "
          "got none",
          "%: expected tensor \"encoder.layer.0.output.dense.bias\" to be F16, "
          "BF16, F32 or F64, got I64 (4) in model.safetensors",
          "%: expected only tensors of a BertModel, got 2 more "
          "(\"encoder.layer.1.output.dense.bias\", \"mystery\"): leaving them "
          "out could give wrong results"));
}

TEST(HuggingFace, NumbersAllAtOnce) {
  Folder folder;
  folder.config["hidden_size"] = 5;
  folder.config["num_hidden_layers"] = 2000000000;
  folder.config["vocab_size"] = "many";
  folder.config["hidden_act"] = "swish";
  folder.config["layer_norm_eps"] = -1;
  folder.config["position_embedding_type"] = "relative_key";
  folder.config["is_decoder"] = true;
  folder.config["pruned_heads"] = json::Object{{"0", json::Array{1}}};
  folder.config["quantization_config"] = json::Object{{"bits", 4}};
  folder.config["add_cross_attention"] = nullptr;
  folder.import();
  EXPECT_THAT(
      folder.problems,
      ElementsAre(
          "%/config.json: expected vocab_size to be an integer of 1 to "
          "2147483647, got \"many\"",
          "%/config.json: expected num_hidden_layers to be an integer of 1 to "
          "1000, got 2000000000",
          "%/config.json: expected hidden_act to be one of gelu, gelu_python, "
          "gelu_new, gelu_fast, gelu_pytorch_tanh, gelu_python_tanh, relu, got "
          "\"swish\"",
          "%/config.json: expected layer_norm_eps to be at least 0 and less "
          "than 1, got -1",
          "%/config.json: expected position_embedding_type to be \"absolute\" "
          "(because relative positions are not imported), got "
          "\"relative_key\"",
          "%/config.json: expected is_decoder to be false (because an encoder "
          "sees keys on both sides), got true",
          "%/config.json: expected pruned_heads to be empty (because all heads "
          "have one size), got {\"0\":[1]}",
          "%/config.json: expected quantization_config to be absent (because "
          "quantized weights are not imported), got {\"bits\":4}",
          "%/config.json: expected hidden_size to be a multiple of "
          "num_attention_heads (because each head has the same size), got 5 "
          "and 2"));
}

TEST(HuggingFace, Activations) {
  Folder folder;
  folder.config["hidden_act"] = "gelu_new";
  EXPECT_THAT(textOf(folder.import()), HasSubstr("<tanh>"));
  folder.config["hidden_act"] = "relu";
  EXPECT_THAT(textOf(folder.import()), HasSubstr("attn.relu"));
}

TEST(HuggingFace, UnknownModelType) {
  Folder folder;
  folder.config["model_type"] = "frobnicator";
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/config.json: expected model_type to be one of "
                          "bert, distilbert, got \"frobnicator\""));
  folder.config.erase("model_type");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/config.json: expected model_type to be one of "
                          "bert, distilbert, got none"));
}

TEST(HuggingFace, DistilBert) {
  Folder folder;
  folder.config = json::Object{{"model_type", "distilbert"},
                               {"dim", 4},
                               {"hidden_dim", 8},
                               {"n_layers", 1},
                               {"n_heads", 2},
                               {"vocab_size", 5},
                               {"activation", "gelu"},
                               {"max_position_embeddings", 6}};
  folder.tensors.clear();
  folder.add("distilbert.embeddings.word_embeddings.weight", {5, 4});
  folder.add("distilbert.embeddings.position_embeddings.weight", {6, 4});
  folder.addLinear("distilbert.transformer.layer.0.ffn.lin1", 8, 4);
  folder.addLinear("distilbert.transformer.layer.0.ffn.lin2", 4, 8);
  for (const char *name : {"q", "k", "v", "out"})
    folder.addLinear("distilbert.transformer.layer.0.attention." +
                         std::string(name) + "_lin",
                     4, 4);
  for (const char *name :
       {"embeddings.LayerNorm", "transformer.layer.0.sa_layer_norm",
        "transformer.layer.0.output_layer_norm"}) {
    folder.add("distilbert." + std::string(name) + ".weight", {4});
    folder.add("distilbert." + std::string(name) + ".bias", {4});
  }
  std::string text = textOf(folder.import());
  EXPECT_THAT(text, HasSubstr("func.func @distilbert(%arg0: "));
  EXPECT_THAT(text, HasSubstr("attn.name = \"attention_mask\"})"));
}

TEST(HuggingFace, TaskHeads) {
  Folder folder;
  folder.config["architectures"] = json::Array{"BertForMaskedLM"};
  std::map<std::string, TensorInfo> prefixed;
  for (auto &[name, info] : folder.tensors)
    prefixed["bert." + name] = info;
  folder.tensors = prefixed;
  folder.add("cls.predictions.bias", {5});
  folder.import();
  EXPECT_THAT(
      folder.problems,
      ElementsAre("%/config.json: expected architectures to be [\"BertModel\"] "
                  "(because task heads are not imported; --drop-head imports "
                  "the encoder alone), got [\"BertForMaskedLM\"]"));
  HuggingFaceOptions options;
  options.dropHead = true;
  EXPECT_THAT(outputs(folder.import(options)),
              ElementsAre("last_hidden_state"));
  // What is left over inside the encoder is still an error.
  folder.add("bert.mystery", {5});
  folder.import(options);
  EXPECT_THAT(folder.problems,
              ElementsAre("%: expected only tensors of a BertModel, got 1 more "
                          "(\"bert.mystery\"): leaving them out could give "
                          "wrong results"));
}

//===----------------------------------------------------------------------===//
// Sentence embeddings
//===----------------------------------------------------------------------===//

const char modulesText[] = R"([
  {"type": "sentence_transformers.models.Transformer", "path": ""},
  {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
  {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}])";

TEST(HuggingFace, SentenceEmbedding) {
  Folder folder;
  folder.write("modules.json", modulesText);
  folder.write("1_Pooling/config.json",
               R"({"word_embedding_dimension": 4,
                   "pooling_mode_cls_token": false,
                   "pooling_mode_mean_tokens": true})");
  std::string text = textOf(folder.import());
  EXPECT_THAT(text, HasSubstr("mask(%arg1 : tensor<?x?xi64>)<mean>"));
  EXPECT_THAT(text, HasSubstr("attn.l2_normalize"));
  EXPECT_THAT(text, HasSubstr("attn.name = \"sentence_embedding\""));

  HuggingFaceOptions options;
  options.outputs = {"sentence_embedding"};
  EXPECT_THAT(outputs(folder.import(options)),
              ElementsAre("sentence_embedding"));
  options.outputs.clear();
  options.pooling = HuggingFaceOptions::Pooling::None;
  EXPECT_THAT(outputs(folder.import(options)),
              ElementsAre("last_hidden_state"));
  options.pooling = HuggingFaceOptions::Pooling::Cls;
  text = textOf(folder.import(options));
  EXPECT_THAT(text, HasSubstr("<cls>"));
  EXPECT_THAT(text, testing::Not(HasSubstr("attn.l2_normalize")));
}

TEST(HuggingFace, SentenceEmbeddingFromOptions) {
  Folder folder;
  HuggingFaceOptions options;
  options.pooling = HuggingFaceOptions::Pooling::Mean;
  options.normalize = true;
  std::string text = textOf(folder.import(options));
  EXPECT_THAT(text, HasSubstr("<mean>"));
  EXPECT_THAT(text, HasSubstr("attn.l2_normalize"));
}

TEST(HuggingFace, OutputsThatTheModelLacks) {
  Folder folder;
  HuggingFaceOptions options;
  options.outputs = {"pooler_output", "last_hidden_state", "last_hidden_state"};
  folder.import(options);
  EXPECT_THAT(folder.problems,
              ElementsAre("expected --outputs of last_hidden_state (because "
                          "that is what this model has), got pooler_output",
                          "expected each output once in --outputs, got "
                          "last_hidden_state twice",
                          "expected each output once in --outputs, got "
                          "last_hidden_state twice"));
}

TEST(HuggingFace, ModulesThatAreRefused) {
  Folder folder;
  folder.write("modules.json", R"([
    {"type": "sentence_transformers.models.Pooling", "path": "../1_Pooling"},
    {"type": "sentence_transformers.models.Dense", "path": "2_Dense"}, 3])");
  folder.import();
  std::string expected = "%/modules.json: expected a module with a type and a "
                         "path inside the folder, got ";
  EXPECT_THAT(
      folder.problems,
      ElementsAre(expected + "{\"path\":\"../1_Pooling\",\"type\":\""
                             "sentence_transformers.mode...",
                  "%/modules.json: expected modules of type Transformer, "
                  "Pooling or Normalize, got "
                  "\"sentence_transformers.models.Dense\": pass "
                  "--pooling=none to import the transformer alone",
                  expected + "3"));
  HuggingFaceOptions options;
  options.pooling = HuggingFaceOptions::Pooling::None;
  EXPECT_TRUE(bool(folder.import(options)));

  folder.write("modules.json", modulesText);
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens": true,
      "pooling_mode_mean_tokens": true})");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/1_Pooling/config.json: expected one pooling mode, "
                          "mean_tokens or cls_token, got mean_tokens, "
                          "max_tokens: pass --pooling=none to import the "
                          "transformer alone"));
  folder.write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true,
      "word_embedding_dimension": 384})");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/config.json: expected hidden_size to be 384 "
                          "(because %/1_Pooling/config.json pools vectors of "
                          "that size), got 4"));
  folder.write("modules.json", "{}");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/modules.json: expected an array of modules, got "
                          "an object"));
  folder.write("modules.json",
               R"([{"type": "sentence_transformers.models.Normalize"}])");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/modules.json: expected a module of type Pooling "
                          "before Normalize (because what is normalized is the "
                          "pooled vector), got none"));
}

TEST(HuggingFace, FoldersThatAreNotThere) {
  Folder folder;
  folder.config.clear();
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/config.json: cannot read the file: No such file "
                          "or directory"));
  EXPECT_FALSE(isHuggingFaceFolder(folder.str()));
  folder.write("config.json", "[]");
  folder.import();
  EXPECT_THAT(folder.problems,
              ElementsAre("%/config.json: expected a JSON object, got an "
                          "array"));
  EXPECT_TRUE(isHuggingFaceFolder(folder.str()));
}

} // namespace
