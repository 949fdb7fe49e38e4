//===- EncoderGraph.cpp - the graph of an encoder -------------------------===//
// Part of attn-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations carry the name of the module they come from as their location, so
// that messages of later stages can say `encoder.layer.3.attention`.
//
//===----------------------------------------------------------------------===//

#include "Encoder.h"

#include "attn/Dialect/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn::hf {
namespace {

class EncoderBuilder {
public:
  EncoderBuilder(const EncoderModel &model, llvm::StringRef folder,
                 MLIRContext *context)
      : model(model), row(*model.architecture), folder(folder),
        builder(context), weightBuilder(context) {}

  OwningOpRef<ModuleOp> build();

private:
  Value embeddings(Value ids, Value tokenTypes);
  Value layer(Value input, Value mask, int64_t i);
  Value pooler(Value hidden);
  Value sentence(Value hidden, Value mask);

  Value linear(Value input, llvm::StringRef name);
  Value layerNorm(Value input, llvm::StringRef name);
  Value splitHeads(Value input);
  /// The tensor of a new or already declared attn.weight.
  Value weight(llvm::StringRef name);

  Location at(llvm::StringRef name) {
    return NameLoc::get(builder.getStringAttr(name));
  }
  RankedTensorType tensorOf(llvm::ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }
  DictionaryAttr describe(llvm::StringRef name,
                          llvm::ArrayRef<llvm::StringRef> dims) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("attn.name", builder.getStringAttr(name)),
         builder.getNamedAttr("attn.dims", builder.getStrArrayAttr(dims))});
  }

  static constexpr int64_t dynamic = ShapedType::kDynamic;

  const EncoderModel &model;
  const EncoderArchitecture &row;
  llvm::StringRef folder;
  /// Where the function's operations go, and where the weights do.
  OpBuilder builder, weightBuilder;
  llvm::StringSet<> declared;
};

} // namespace

Value EncoderBuilder::weight(llvm::StringRef name) {
  const SafetensorsModel::Entry &entry = model.tensors.find(name)->second;
  auto type = tensorOf(entry.tensor->shape);
  if (declared.insert(name).second)
    WeightOp::create(weightBuilder, at(name), builder.getStringAttr(name),
                     /*sym_visibility=*/nullptr,
                     SourceAttr::get(builder.getContext(),
                                     (folder + entry.fileName).str(),
                                     entry.tensor->name),
                     TypeAttr::get(type));
  return WeightRefOp::create(
      builder, at(name), type,
      FlatSymbolRefAttr::get(builder.getContext(), name));
}

Value EncoderBuilder::linear(Value input, llvm::StringRef name) {
  Value matrix = weight((name + ".weight").str());
  Value bias = weight((name + ".bias").str());
  SmallVector<int64_t> shape(cast<ShapedType>(input.getType()).getShape());
  shape.back() = cast<ShapedType>(matrix.getType()).getDimSize(0);
  return LinearOp::create(builder, at(name), tensorOf(shape), input, matrix,
                          bias);
}

Value EncoderBuilder::layerNorm(Value input, llvm::StringRef name) {
  Value gamma = weight((name + ".weight").str());
  Value beta = weight((name + ".bias").str());
  return LayerNormOp::create(builder, at(name), input.getType(), input, gamma,
                             beta, builder.getF64FloatAttr(model.normEpsilon));
}

Value EncoderBuilder::splitHeads(Value input) {
  return SplitHeadsOp::create(
      builder, input.getLoc(),
      tensorOf({dynamic, dynamic, model.heads, model.hidden / model.heads}),
      input, model.heads, Layout::BSHD);
}

Value EncoderBuilder::embeddings(Value ids, Value tokenTypes) {
  RankedTensorType type = tensorOf({dynamic, dynamic, model.hidden});
  Value sum = EmbeddingOp::create(builder, at(row.wordTable), type, ids,
                                  weight((row.wordTable + ".weight").str()));
  if (tokenTypes) {
    Value types =
        EmbeddingOp::create(builder, at(row.tokenTypeTable), type, tokenTypes,
                            weight((row.tokenTypeTable + ".weight").str()));
    sum = arith::AddFOp::create(builder, at("embeddings"), sum, types);
  }
  sum =
      LearnedPositionsOp::create(builder, at(row.positionTable), type, sum,
                                 weight((row.positionTable + ".weight").str()),
                                 builder.getI64IntegerAttr(0));
  return layerNorm(sum, row.embeddingNorm);
}

Value EncoderBuilder::layer(Value input, Value mask, int64_t i) {
  Value query = splitHeads(linear(input, layerTensor(row.query, i)));
  Value key = splitHeads(linear(input, layerTensor(row.key, i)));
  Value value = splitHeads(linear(input, layerTensor(row.value, i)));

  // encoder.layer.3.attention.self.query is a part of ...attention.self.
  std::string queryName = layerTensor(row.query, i);
  Location loc = at(llvm::StringRef(queryName).rsplit('.').first);
  RankedTensorType scoresType =
      tensorOf({dynamic, model.heads, dynamic, dynamic});
  Value scores = ScoresOp::create(builder, loc, scoresType, query, key,
                                  /*scale=*/Value(), Layout::BSHD);
  scores = MaskOp::create(builder, loc, scoresType, scores,
                          KeyPaddingAttr::get(builder.getContext()), mask);
  Value weights =
      SoftmaxOp::create(builder, loc, scoresType, Type(), scores).getResult();
  Value mixed = MixOp::create(builder, loc, query.getType(), weights, value,
                              Layout::BSHD);
  Value merged =
      MergeHeadsOp::create(builder, loc, input.getType(), mixed, Layout::BSHD);
  Value output = linear(merged, layerTensor(row.attentionOutput, i));
  Value attended =
      layerNorm(arith::AddFOp::create(builder, output.getLoc(), output, input),
                layerTensor(row.attentionNorm, i));

  Value wide = linear(attended, layerTensor(row.feedForward1, i));
  if (model.gelu)
    wide = GeluOp::create(builder, wide.getLoc(), wide.getType(), wide,
                          *model.gelu);
  else
    wide = ReluOp::create(builder, wide.getLoc(), wide.getType(), wide);
  Value narrow = linear(wide, layerTensor(row.feedForward2, i));
  return layerNorm(
      arith::AddFOp::create(builder, narrow.getLoc(), narrow, attended),
      layerTensor(row.feedForwardNorm, i));
}

Value EncoderBuilder::pooler(Value hidden) {
  Value first =
      PoolOp::create(builder, at(row.pooler), tensorOf({dynamic, model.hidden}),
                     hidden, /*mask=*/Value(), PoolKind::Cls);
  return math::TanhOp::create(builder, at(row.pooler),
                              linear(first, row.pooler));
}

Value EncoderBuilder::sentence(Value hidden, Value mask) {
  Location loc = at("sentence_embedding");
  if (model.sentence->pool == PoolKind::Cls)
    mask = Value();
  Value pooled = PoolOp::create(builder, loc, tensorOf({dynamic, model.hidden}),
                                hidden, mask, model.sentence->pool);
  if (!model.sentence->normalize)
    return pooled;
  // The epsilon of torch.nn.functional.normalize.
  return L2NormalizeOp::create(builder, loc, pooled.getType(), pooled,
                               builder.getF64FloatAttr(1e-12));
}

OwningOpRef<ModuleOp> EncoderBuilder::build() {
  Location loc = at(row.modelType);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto dim = [&](llvm::StringRef name, int64_t max) {
    DimOp::create(builder, loc, builder.getStringAttr(name),
                  /*sym_visibility=*/nullptr, builder.getI64IntegerAttr(1),
                  builder.getI64IntegerAttr(max));
  };
  dim("batch", INT32_MAX);
  dim("sequence", model.positions);

  SmallVector<llvm::StringRef> inputs = {"input_ids", "attention_mask"};
  if (!row.tokenTypeTable.empty())
    inputs.push_back("token_type_ids");
  SmallVector<Type> inputTypes(
      inputs.size(),
      RankedTensorType::get({dynamic, dynamic}, builder.getI64Type()));
  SmallVector<Type> outputTypes;
  for (llvm::StringRef name : model.outputs)
    outputTypes.push_back(name == "last_hidden_state"
                              ? tensorOf({dynamic, dynamic, model.hidden})
                              : tensorOf({dynamic, model.hidden}));
  auto function =
      func::FuncOp::create(builder, loc, row.modelType,
                           builder.getFunctionType(inputTypes, outputTypes));
  for (auto [i, name] : llvm::enumerate(inputs))
    function.setArgAttrs(i, describe(name, {"batch", "sequence"}));
  for (auto [i, name] : llvm::enumerate(model.outputs)) {
    llvm::StringRef dims[] = {"batch", "sequence", ""};
    if (name == "last_hidden_state")
      function.setResultAttrs(i, describe(name, dims));
    else
      function.setResultAttrs(i, describe(name, {"batch", ""}));
  }
  weightBuilder.setInsertionPoint(function);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);

  Value mask = body->getArgument(1);
  Value hidden = embeddings(body->getArgument(0),
                            inputs.size() > 2 ? body->getArgument(2) : Value());
  for (int64_t i = 0; i < model.layers; ++i)
    hidden = layer(hidden, mask, i);
  SmallVector<Value> results;
  for (llvm::StringRef name : model.outputs)
    results.push_back(name == "last_hidden_state" ? hidden
                      : name == "pooler_output"   ? pooler(hidden)
                                                  : sentence(hidden, mask));
  func::ReturnOp::create(builder, loc, results);
  return module;
}

OwningOpRef<ModuleOp> buildEncoder(const EncoderModel &model,
                                   llvm::StringRef folder,
                                   MLIRContext *context) {
  return EncoderBuilder(model, folder, context).build();
}

} // namespace attn::hf
